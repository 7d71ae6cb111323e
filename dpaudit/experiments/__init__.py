"""The experiments of Azize and Basu (2022): panels that can be resumed, pictures, statements."""
