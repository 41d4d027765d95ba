#!/usr/bin/env bash
# The first process of a node, in namespaces of its own: node.sh STATE NAME ADDRESS ROUTER, started by nodes.ts. Gives the node its own mounts, starts each program of
# STATE/programs, and starts one again that ends. All of it ends when this process does.
set -euo pipefail
state=$1 name=$2 address=$3 router=$4
mount --make-rprivate /
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /sys/fs/cgroup
for controller in cpu cpuacct cpuset memory devices freezer blkio pids systemd; do
  mkdir "/sys/fs/cgroup/$controller"
  options=$controller
  [ "$controller" = systemd ] && options=none,name=systemd
  mount -t cgroup -o "$options" cgroup "/sys/fs/cgroup/$controller"
done
for path in /var/lib/kubelet /var/lib/containerd /var/lib/cni /var/log/pods /var/log/containers /etc/cni /opt; do
  mkdir -p "$state/root$path" # of the machine by nodes.ts
  mount --bind "$state/root$path" "$path"
done
mkdir -p "$state/root/etc"
printf '127.0.0.1 localhost\n%s %s\n' "$address" "$name" >"$state/root/etc/hosts"
printf 'nameserver %s\noptions timeout:1 attempts:1\n' "$router" >"$state/root/etc/resolv.conf"
for path in /etc/hosts /etc/resolv.conf; do mount --bind "$state/root$path" "$path"; done
mkdir -p /etc/cni/net.d
cp "$state/pods.conflist" /etc/cni/net.d/
mount -t tmpfs -o mode=755 tmpfs /run
# Volumes that a kubelet mounts reach the containers that ask for propagation.
mount --make-rshared /
hostname "$name"

declare -A running
start() {
  "$state/programs/$1" >>"$state/log/$1.log" 2>&1 </dev/null &
  running[$!]=$1
}
trap 'exit 0' TERM
for program in "$state"/programs/*; do start "$(basename "$program")"; done
while true; do
  ended=""
  code=0
  wait -n -p ended || code=$?
  program=${running[${ended:-none}]:-}
  if [ -n "$program" ]; then
    unset "running[$ended]"
    echo "$(date +%T) $program ended with $code" >>"$state/log/restarts.log"
    sleep 1
    start "$program"
  fi
done
