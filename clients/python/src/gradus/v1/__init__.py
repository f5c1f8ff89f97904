"""Generated from proto/gradus/v1 by scripts/gen-python.sh. Do not edit."""
