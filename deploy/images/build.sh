#!/usr/bin/env bash
# Builds the image of one app, with a list of what is in it (SBOM) and how it came to be (provenance) as attestations.
#   BUILD_IMAGE=NAME@sha256:DIGEST RUNTIME_IMAGE=NAME@sha256:DIGEST deploy/images/build.sh APP TAG [OPTION OF docker buildx build …]
set -euo pipefail
cd "$(dirname "$0")/../.."
usage="usage: BUILD_IMAGE=NAME@sha256:DIGEST RUNTIME_IMAGE=NAME@sha256:DIGEST deploy/images/build.sh mgmt-server|agent|ui|meshctl TAG [OPTION…]"
fail() {
  echo "error: $1" >&2
  exit 2
}
(($# >= 2)) || fail "$usage"
app=$1 tag=$2
shift 2
[ -f "deploy/images/$app.Dockerfile" ] || fail "there is no image of $app: $usage"
for name in BUILD_IMAGE RUNTIME_IMAGE; do
  image=${!name:-}
  # A tag may be another image tomorrow.
  [[ $image =~ @sha256:[0-9a-f]{64}$ ]] || fail "$name is \"$image\": must be pinned by digest, as NAME@sha256:DIGEST"
done
exec docker buildx build --file "deploy/images/$app.Dockerfile" --tag "$tag" \
  --build-arg "BUILD_IMAGE=$BUILD_IMAGE" --build-arg "RUNTIME_IMAGE=$RUNTIME_IMAGE" \
  --sbom=true --provenance=mode=max "$@" .
