import { ServiceEntry, VirtualService } from "@isthmus/api";
import { formatRef, type Index, type Resource, refOf } from "@isthmus/core";
import { networkingOwner } from "@isthmus/translators";
import { defineRule, lookUp, type RuleFinding } from "../rule.ts";
import { byEntryHost, hostKey } from "./places.ts";

const OWNER_LABEL = networkingOwner("").label;

/** Which comes second of two objects, of which one is reported: users' own ones by name, and never after ours. */
function isEarlier({ metadata }: Resource, { metadata: own }: Resource): boolean {
  if (metadata.labels?.[OWNER_LABEL] !== undefined) return false;
  const [theirs, mine] = [`${metadata.namespace}/${metadata.name}`, `${own.namespace}/${own.name}`];
  return theirs < mine;
}

interface Exported extends Resource {
  readonly spec?: { readonly exportTo?: readonly string[] };
}

/** Whether any namespace sees both. */
function areSeenTogether(a: Exported, b: Exported): boolean {
  const [first, second] = [visibleIn(a), visibleIn(b)];
  return first.has("*") || second.has("*") || [...first].some((namespace) => second.has(namespace));
}

/** The namespaces that see an object: `*` is every one, and `.` its own. */
function visibleIn({ spec, metadata: { namespace = "" } }: Exported): ReadonlySet<string> {
  const { exportTo = [] } = spec ?? {};
  return new Set(exportTo.length === 0 ? ["*"] : exportTo.map((name) => (name === "." ? namespace : name)));
}

// Source: istio.io/docs/reference/config/networking/virtual-service, gateways: without any, it is for sidecars.
const byHostOfMesh: Index<VirtualService> = (object) => {
  const { hosts = [], gateways = ["mesh"] } = object.spec ?? {};
  return gateways.length === 0 || gateways.includes("mesh") ? [...new Set(hosts.map((host) => hostKey(host, object)))] : [];
};

/** RTE1020. */
export const hostRoutedTwice = defineRule({
  code: "RTE1020",
  of: VirtualService,
  reads: { others: lookUp(VirtualService, { key: byHostOfMesh, index: byHostOfMesh }) },
  find(object, { lookup }) {
    const taken = new Map<string, VirtualService>();
    for (const other of lookup("others")) {
      if (!isEarlier(other, object) || !areSeenTogether(other, object)) continue;
      for (const key of byHostOfMesh(other)) taken.set(key, other);
    }
    if (taken.size === 0) return [];
    return (object.spec?.hosts ?? []).flatMap((host, i): readonly RuleFinding[] => {
      const other = taken.get(hostKey(host, object));
      if (other === undefined) return [];
      const message = `${host} is routed by ${formatRef(refOf(other))} as well, and sidecars use one of the two`;
      return [{ field: `spec.hosts[${i}]`, message, remedy: "merge the two, or export each to namespaces of its own" }];
    });
  },
});

/** RTE1021. */
export const entriesDisagree = defineRule({
  code: "RTE1021",
  of: ServiceEntry,
  reads: { others: lookUp(ServiceEntry, { key: byEntryHost, index: byEntryHost }) },
  find(entry, { lookup }) {
    const known = new Map<string, { readonly other: ServiceEntry; readonly protocol: string }>();
    const own = new Set(byEntryHost(entry));
    for (const other of lookup("others")) {
      if (!isEarlier(other, entry) || !areSeenTogether(other, entry) || !byEntryHost(other).some((key) => own.has(key))) continue;
      for (const { number, protocol = "" } of other.spec?.ports ?? [])
        known.set(String(number), { other, protocol: protocol.toUpperCase() });
    }
    return (entry.spec?.ports ?? []).flatMap(({ number, protocol = "" }, i): readonly RuleFinding[] => {
      const found = known.get(String(number));
      if (found === undefined || found.protocol === protocol.toUpperCase()) return [];
      const message = `is ${protocol}, and ${formatRef(refOf(found.other))} says ${found.protocol} of port ${number} of the same host`;
      return [{ field: `spec.ports[${i}].protocol`, message, remedy: "give the port one protocol in both" }];
    });
  },
});
