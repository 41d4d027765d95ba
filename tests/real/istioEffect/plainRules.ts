import type { PeerTls } from "./peerTls.ts";
import type { UserPolicy } from "./policies.ts";
import { PORTS, type WorldForm } from "./randomFleets.ts";

/** The `index`-th world with one rule alone, so that it decides: among many rules, some hardly ever do. */
export function plainForm(index: number): WorldForm {
  const { users = [], peers = [] } = PLAIN[index % PLAIN.length] ?? {};
  const ports = PORTS.filter(({ number }) => number === 8080 || number === 9000);
  return { ports, isSplit: index % 2 === 0, hasBarePod: false, users, peers, access: [] };
}

const from = (member: string, values: readonly string[]) => ({ users: [policy("ALLOW", { from: [{ source: { [member]: values } }] })] });

const PLAIN: readonly { readonly users: readonly UserPolicy[]; readonly peers?: readonly PeerTls[] }[] = [
  from("principals", ["OWN/ns/SHOP/sa/front"]),
  from("principals", ["ALIAS/ns/BANK/sa/till", "*/sa/till"]),
  from("principals", ["other.example/ns/SHOP/sa/front"]),
  from("notPrincipals", ["cluster.local/ns/SHOP/sa/front"]),
  from("namespaces", ["SHOP"]),
  from("notNamespaces", ["BANK"]),
  from("serviceAccounts", ["SHOP/front"]),
  ...Object.entries({
    ports: ["8080"],
    notPorts: ["9000"],
    methods: ["GET"],
    notMethods: ["GET"],
    paths: ["/admin*"],
    notPaths: ["/"],
  }).map(([member, values], i) => ({ users: [policy(i % 2 === 0 ? "ALLOW" : "DENY", { to: [{ operation: { [member]: values } }] })] })),
  // In random worlds their rules may fit no request at all.
  { users: [policy("CUSTOM", {})] },
  { users: [policy("AUDIT", {})] },
  {
    users: [policy("ALLOW", { from: [{ source: { principals: ["*"] } }] })],
    peers: [{ place: "SHOP", selector: { app: "cart" }, mode: "PERMISSIVE", ports: { 8080: { mode: "DISABLE" } } }],
  },
  {
    users: [policy("ALLOW", { from: [{ source: { principals: ["*"] } }] })],
    peers: [
      { place: "SHOP", selector: undefined, mode: "PERMISSIVE", ports: {} },
      { place: "SHOP", selector: { version: "v1" }, mode: "DISABLE", ports: {} },
    ],
  },
];

function policy(action: string, rule: UserPolicy["rules"][number]): UserPolicy {
  return { place: "SHOP", selector: {}, action, isDryRun: false, rules: [rule] };
}
