import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** Which addresses modules may be fetched from, beside those that everybody may ask. */
export interface FetchAllowance {
  /** Addresses of this machine too: for tests. */
  readonly loopback?: boolean;
  /** Hosts that may have addresses of private networks, in lower case and without a port. Undefined: all of them. */
  readonly privateHosts?: ReadonlySet<string>;
}

/**
 * Why nothing is fetched from an address of `host`: it is of this machine, or of its link, where clouds answer with credentials, or of a private network
 * in which only some hosts may be asked. Undefined: it may be asked. Source: RFC 6890; RFC 4291, section 2.5.
 */
export function addressProblem(
  address: string,
  { loopback = false, privateHosts }: FetchAllowance = {},
  host: string = address,
): string | undefined {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  if (isIP(address) === 0) return `${address} is no IP address`;
  if (!loopback && LOOPBACK.check(address, family)) return `${address} is an address of this machine`;
  if (REFUSED.check(address, family)) return `${address} is not an address that modules are fetched from`;
  if (privateHosts === undefined || privateHosts.has(host.toLowerCase()) || !PRIVATE.check(address, family)) return undefined;
  return `${address} is an address of a private network, and ${host} is none of the private hosts that the agent may ask (--wasm-private-hosts)`;
}

/** Looks a name up as Node does, and refuses when one of its addresses is refused: what is checked is what is connected to. */
export function checkedLookup(allowance: FetchAllowance): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const first = found?.[0];
      if (error !== null || first === undefined) return callback(error ?? new Error(`${hostname} has no address`), "", 0);
      const problem = found.map(({ address }) => addressProblem(address, allowance, hostname)).find((one) => one !== undefined);
      if (problem !== undefined) return callback(new Error(`${hostname}: ${problem}`), "", 0);
      if (options.all === true) return callback(null, found);
      return callback(null, first.address, first.family);
    });
  };
}

// IPv4 addresses inside of IPv6 ones are checked as IPv4: those of ::ffff:0:0/96 by BlockList itself.
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

const REFUSED = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["192.0.0.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  REFUSED.addSubnet(network, bits, "ipv4");
}
// Metadata of a cloud outside of the link-local range.
REFUSED.addAddress("100.100.100.200", "ipv4");
REFUSED.addAddress("168.63.129.16", "ipv4");
for (const [network, bits] of [
  ["::", 128],
  ["fe80::", 10],
  ["ff00::", 8],
  // Of IPv4 by translation: the address does not say who answers.
  ["64:ff9b::", 96],
  ["2002::", 16],
] as const) {
  REFUSED.addSubnet(network, bits, "ipv6");
}
REFUSED.addAddress("fd00:ec2::254", "ipv6");

const PRIVATE = new BlockList();
for (const [network, bits] of [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
] as const) {
  PRIVATE.addSubnet(network, bits, "ipv4");
}
PRIVATE.addSubnet("fc00::", 7, "ipv6");
