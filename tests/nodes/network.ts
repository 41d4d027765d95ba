import { run, tried } from "./commands.ts";
import { LAN, type NodePlan, ROUTER } from "./names.ts";

function exists(netns: string): boolean {
  return tried(["ip", "netns", "pids", netns]).code === 0;
}

function inNetns(netns: string, command: string): void {
  run(["ip", "-n", netns, ...command.split(" ")]);
}

/** Makes the network of the nodes, where it is not there: a bridge in a network namespace of its own, which leads nowhere else. */
export function makeLan(): void {
  if (exists(LAN)) return;
  run(["ip", "netns", "add", LAN]);
  for (const command of ["link set lo up", "link add br0 type bridge", `addr add ${ROUTER}/24 dev br0`, "link set br0 up"])
    inNetns(LAN, command);
  run(["ip", "netns", "exec", LAN, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1"]);
}

/** Makes the network namespace of a node, and joins it to the others. Addresses of its load balancers lead to it, as in a cloud. */
export function attachToLan({ netns, name, address, balancers, pods }: NodePlan): void {
  if (exists(netns)) return;
  run(["ip", "netns", "add", netns]);
  run(["ip", "-n", LAN, "link", "add", `to-${name}`, "type", "veth", "peer", "name", "eth0", "netns", netns]);
  run(["ip", "-n", LAN, "link", "set", `to-${name}`, "master", "br0", "up"]);
  for (const command of ["link set lo up", `addr add ${address}/24 dev eth0`, "link set eth0 up", `route add default via ${ROUTER}`]) {
    inNetns(netns, command);
  }
  inNetns(LAN, `route replace ${balancers}.0/24 via ${address}`);
  const settings = ["ip_forward=1", "conf.all.rp_filter=0", "conf.default.rp_filter=0", "conf.all.route_localnet=1"];
  run(["ip", "netns", "exec", netns, "sysctl", "-q", "-w", ...settings.map((one) => `net.ipv4.${one}`)]);
  // Services are found by connections that cross the bridge of the pods. Without the kernel's module for it they are all the same on other kernels.
  tried(["ip", "netns", "exec", netns, "sysctl", "-q", "-w", "net.bridge.bridge-nf-call-iptables=1"]);
  const table = `table ip node { chain out { type nat hook postrouting priority 100; policy accept; ip saddr ${pods} oifname "eth0" masquerade; }; }\n`;
  run(["ip", "netns", "exec", netns, "nft", "-f", "-"], { input: table });
}

/** Removes a network namespace; whether it is gone. */
export function removeNetns(netns: string): boolean {
  return tried(["ip", "netns", "del", netns]).code === 0 || !exists(netns);
}
