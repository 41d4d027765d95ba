import type { PeerAuthentication } from "@isthmus/api";
import { type AuthorizationPolicy, rootNamespaceOf, type VirtualService } from "@isthmus/api";
import type { Check, CheckFinding } from "../checks/check.ts";
import { hasIstio } from "./istioMeshes.ts";
import type { TargetState } from "./targetState.ts";

/** Callers have an identity only over mutual TLS. */
export const identitiesAreRequired: Check<TargetState> = {
  category: "Mesh",
  description: "Where AuthorizationPolicies name callers, mutual TLS is required",
  reads: ["policies", "discovered"],
  applies: hasIstio,
  findings({ policies, discovered }) {
    const roots = new Set(discovered.meshes.filter(({ spec }) => spec?.istio !== undefined).map(rootNamespaceOf));
    const { peerAuthentications } = policies;
    const isOpen = (namespace: string): boolean => {
      const own = peerAuthentications.filter(({ metadata }) => metadata.namespace === namespace);
      const ofRoot = peerAuthentications.filter(({ metadata }) => roots.has(metadata.namespace ?? ""));
      // What is said of some pods alone may be of all that matter.
      if (own.some((one) => !isForAll(one) && modeOf(one) === "STRICT")) return false;
      const mode = [...own, ...ofRoot]
        .filter(isForAll)
        .map(modeOf)
        .find((one) => one !== "UNSET");
      return mode !== "STRICT";
    };
    const open = [...new Set(policies.authorizationPolicies.filter(namesCallers).map(({ metadata }) => metadata.namespace ?? ""))]
      .filter(isOpen)
      .sort();
    if (open.length === 0) return [];
    const names = `${open.slice(0, SHOWN).join(", ")}${open.length > SHOWN ? " and others" : ""}`;
    const message = `AuthorizationPolicies name callers, and no PeerAuthentication requires mutual TLS in namespace ${names}: callers without it have no name, so that they are refused where callers are allowed, and let in where callers are denied`;
    const [root = ""] = roots;
    const manifest = JSON.stringify({
      apiVersion: "security.istio.io/v1",
      kind: "PeerAuthentication",
      metadata: { name: "default", namespace: root },
      spec: { mtls: { mode: "STRICT" } },
    });
    const remedy = `when all callers have a sidecar: echo '${manifest}' | kubectl --context CONTEXT apply -f -`;
    return [{ code: "SEC0008", severity: "warning", message, remedy }];
  },
};

const SHOWN = 5;

function isForAll({ spec }: PeerAuthentication): boolean {
  return spec?.selector === undefined;
}

function modeOf({ spec }: PeerAuthentication): string {
  return spec?.mtls?.mode ?? "UNSET";
}

function namesCallers({ spec }: AuthorizationPolicy): boolean {
  return (spec?.rules ?? []).some(({ from = [] }) =>
    from.some(({ source }) => source !== undefined && Object.keys(source).some(isOfIdentity)),
  );
}

// Others are of addresses, or of tokens. Source: istio.io/docs/reference/config/security/authorization-policy/#Source.
const OF_IDENTITY: ReadonlySet<string> = new Set([
  "principals",
  "notPrincipals",
  "namespaces",
  "notNamespaces",
  "serviceAccounts",
  "notServiceAccounts",
]);
function isOfIdentity(member: string): boolean {
  return OF_IDENTITY.has(member);
}

/** Routes by claims of tokens that nobody reads. */
export const tokensAreRead: Check<TargetState> = {
  category: "Mesh",
  description: "Where routes match claims of tokens, a RequestAuthentication reads them",
  reads: ["policies", "discovered"],
  applies: hasIstio,
  findings: ({ policies }) =>
    policies.requestAuthentications > 0
      ? []
      : policies.virtualServices.flatMap((service): readonly CheckFinding[] => {
          const field = tokenMatch(service);
          if (field === undefined) return [];
          const { name, namespace } = service.metadata;
          const message = `VirtualService ${namespace}/${name}: ${field} matches a claim of a token, and the cluster has no RequestAuthentication: the route never matches`;
          const remedy = "add a RequestAuthentication for the pods of its gateway: istio.io/docs/tasks/security/authentication/jwt-route";
          return [{ code: "SEC1011", severity: "error", message, remedy }];
        }),
};

/** The path of a match by a claim. Source: istio.io/docs/reference/config/security/jwt. */
function tokenMatch({ spec }: VirtualService): string | undefined {
  for (const [i, { match = [] }] of (spec?.http ?? []).entries()) {
    for (const [j, one] of match.entries()) {
      const { headers = {}, withoutHeaders = {} } = one as { readonly headers?: object; readonly withoutHeaders?: object };
      const isMatch = [...Object.keys(headers), ...Object.keys(withoutHeaders)].some((header) => header.startsWith("@request.auth.claims"));
      if (isMatch) return `spec.http[${i}].match[${j}]`;
    }
  }
  return undefined;
}

/** Whether certificates that one side makes are valid at the other. */
export const clocksAgree: Check<TargetState> = {
  category: "Agent",
  description: "The clock of the cluster is that of the management cluster",
  reads: ["aheadMs"],
  // A proxy may leave the date out.
  applies: ({ aheadMs }) => aheadMs !== undefined,
  findings({ aheadMs }) {
    if (aheadMs === undefined || Math.abs(aheadMs) <= TOLERANCE_MS) return [];
    const seconds = Math.round(Math.abs(aheadMs) / 1_000);
    const message = `the clock of its API server is ${seconds} s ${aheadMs < 0 ? "behind" : "ahead of"} that of the management cluster: certificates may be refused as not yet valid or expired`;
    return [{ code: "REL1009", severity: "warning", message, remedy: "synchronize the clocks of both (NTP)" }];
  },
};

const TOLERANCE_MS = 30_000;
