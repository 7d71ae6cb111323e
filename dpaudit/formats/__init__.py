"""What machines read: JSON, JUnit XML, SARIF 2.1.0 and GitHub annotations of judged claims."""
