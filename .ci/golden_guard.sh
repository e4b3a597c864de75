#!/usr/bin/env bash
# Golden files are evidence: CI must compare them, never write them.
set -euo pipefail
if [ -n "${TRACSO_UPDATE_GOLDEN:-}" ]; then
  echo "TRACSO_UPDATE_GOLDEN is set: golden files would be rewritten instead of compared" >&2
  exit 1
fi
