import { type ConnectionPolicy, Destination, DestinationRule, Mesh, PeerAuthentication } from "@isthmus/api";
import { formatRef, type Index, keyOf, refOf } from "@isthmus/core";
import { defineRule, lookUp, type RuleFinding } from "../rule.ts";
import { istioMinor } from "./federation.ts";
import { byMeshCluster, byObjectCluster, isInCluster, itsRegistration, serviceKey, serviceOfHost } from "./places.ts";

const serviceNamed: Index<DestinationRule> = (rule) => {
  const service = serviceOfHost(rule.spec?.host, rule);
  return service === undefined ? [] : [serviceKey(service, rule)];
};
const byItsService: Index<Destination> = ({ spec }) => (spec?.kubeService?.ref === undefined ? [] : [keyOf(spec.kubeService.ref)]);

const placeNamed: Index<DestinationRule> = (rule) => {
  const service = serviceOfHost(rule.spec?.host, rule);
  return service === undefined ? [] : [`${service.namespace}@${rule.metadata.clusterName ?? ""}`];
};
const byPlace: Index<PeerAuthentication> = ({ metadata: { namespace = "", clusterName = "" } }) => [`${namespace}@${clusterName}`];

/**
 * What of a namespace refuses plain text to all its pods. One of the root namespace may be overruled by others that are not known; and one for some pods may
 * say otherwise of those in question.
 */
function refusal(policies: readonly PeerAuthentication[]): PeerAuthentication | undefined {
  const isForAll = ({ spec }: PeerAuthentication) => Object.keys(spec?.selector?.matchLabels ?? {}).length === 0;
  if (policies.some((one) => !isForAll(one))) return undefined;
  // Of several Istio takes the oldest.
  return policies.every(({ spec }) => spec?.mtls?.mode === "STRICT") ? policies[0] : undefined;
}

/** SEC1008. */
export const mutualTlsSwitchedOff = defineRule({
  code: "SEC1008",
  of: DestinationRule,
  reads: {
    destinations: lookUp(Destination, { key: serviceNamed, index: byItsService }),
    peerAuthentications: lookUp(PeerAuthentication, { key: placeNamed, index: byPlace }),
    domains: itsRegistration,
  },
  find(rule, { lookup }) {
    if (!isInCluster(rule.spec?.host, lookup("domains"))) return [];
    // By default plain text is let in: where no PeerAuthentication is known, none refuses it. Rules about callers are known.
    const refusing = lookup("destinations").length === 0 ? undefined : refusal(lookup("peerAuthentications"));
    const policy = lookup("destinations").flatMap(({ status }) => status?.appliedAccessPolicies ?? [])[0]?.ref;
    if (policy === undefined && refusing === undefined) return [];
    return tlsSettings(rule).flatMap(({ field, tls }): readonly RuleFinding[] => {
      if (tls.mode !== "DISABLE") return [];
      const message =
        refusing === undefined
          ? `DISABLE sends plain text to ${rule.spec?.host}, so callers have no identity, and AccessPolicy ${policy?.namespace}/${policy?.name} lets none of them in by name`
          : `DISABLE sends plain text to ${rule.spec?.host}, which ${formatRef(refOf(refusing))} refuses, as its mode is STRICT`;
      return [{ field: `${field}.mode`, message, remedy: "set ISTIO_MUTUAL, or remove tls" }];
    });
  },
});

/** Proxies of older ones take any certificate unless they are given authorities. Source: istio.io, change notes of 1.21. */
const VERIFIES_SINCE_MINOR = 21;
const ORIGINATES: ReadonlySet<string> = new Set(["SIMPLE", "MUTUAL"]);

/** SEC1009. */
export const serverNotVerified = defineRule({
  code: "SEC1009",
  of: DestinationRule,
  reads: { meshes: lookUp(Mesh, { key: byObjectCluster, index: byMeshCluster }) },
  find(rule, { lookup }) {
    const versions = lookup("meshes").flatMap(({ spec }) => spec?.istio?.installation?.version ?? []);
    const old = versions.find((version) => (istioMinor(version) ?? VERIFIES_SINCE_MINOR) < VERIFIES_SINCE_MINOR);
    return tlsSettings(rule).flatMap(({ field, tls }): readonly RuleFinding[] => {
      const { mode = "", caCertificates = "", credentialName = "", insecureSkipVerify } = tls;
      if (!ORIGINATES.has(mode)) return [];
      if (insecureSkipVerify === true) {
        const message = `is true: anybody who answers for ${rule.spec?.host} is taken for it, with any certificate`;
        return [{ field: `${field}.insecureSkipVerify`, message, remedy: REMEDY }];
      }
      if (caCertificates !== "" || credentialName !== "" || old === undefined) return [];
      const message = `is missing: proxies of Istio ${old} do not verify the certificate of ${rule.spec?.host}`;
      return [{ field: `${field}.caCertificates`, message, remedy: REMEDY }];
    });
  },
});

const REMEDY = "set caCertificates to the authorities that sign its certificate, and remove insecureSkipVerify";

interface TlsSettings {
  /** Its path. */
  readonly field: string;
  readonly tls: NonNullable<ConnectionPolicy["tls"]>;
}

/** Of the rule as a whole, of its ports, and of its subsets. */
function tlsSettings({ spec }: DestinationRule): readonly TlsSettings[] {
  const one = (path: string, tls: TlsSettings["tls"] | undefined) => (tls === undefined ? [] : [{ field: `${path}.tls`, tls }]);
  const at = (path: string, policy: ConnectionPolicy | undefined): readonly TlsSettings[] => [
    ...one(path, policy?.tls),
    ...(policy?.portLevelSettings ?? []).flatMap(({ tls }, i) => one(`${path}.portLevelSettings[${i}]`, tls)),
  ];
  const ofSubsets = (spec?.subsets ?? []).flatMap(({ trafficPolicy }, i) => at(`spec.subsets[${i}].trafficPolicy`, trafficPolicy));
  return [...at("spec.trafficPolicy", spec?.trafficPolicy), ...ofSubsets];
}
