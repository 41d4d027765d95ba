#!/usr/bin/env bash
# Prints where the components of this checkout are kept: one folder per set of pinned versions.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
hash=$(cat "$here"/kube/go.mod "$here"/kube/go.sum "$here"/istio/go.mod "$here"/istio/go.sum | sha256sum | cut -c1-16)
echo "${XDG_CACHE_HOME:-$HOME/.cache}/isthmus/real/$hash"
