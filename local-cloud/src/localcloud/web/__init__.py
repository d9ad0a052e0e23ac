"""HTTP for all services: requests, answers, errors and microversions."""
