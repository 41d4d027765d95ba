import type { Settings } from "@isthmus/api";
import { hasClientCertificates } from "../deployments.ts";
import { CATEGORIES, type Check, type CheckFinding } from "./check.ts";
import { INSIGHT_GROUPS } from "./insightGroups.ts";
import { insightsWith } from "./readInsights.ts";
import type { RelayCertificate } from "./relayCertificates.ts";

const category = CATEGORIES["gloo-mesh"];

/** The certificates of the relay that no agent renews by itself. */
export const relayCertificatesLast: Check = {
  category,
  description: "The certificates of the relay are valid, and end in time to be renewed",
  reads: ["relayCertificates"],
  findings: ({ relayCertificates, namespace, now }) => relayCertificates.flatMap((certificate) => ending(certificate, namespace, now)),
};

function ending({ secret, key, validity }: RelayCertificate, namespace: string, now: number): readonly CheckFinding[] {
  const name = `Secret ${namespace}/${secret}, key ${key}`;
  const look = `kubectl -n ${namespace} get secret ${secret} -o yaml`;
  if (validity === undefined) return [{ code: "CRT1101", severity: "error", message: `${name}: has no certificate in PEM`, remedy: look }];
  const { from, until } = validity;
  const date = new Date(until).toISOString();
  const remedy = "one that the server has generated is renewed by itself: meshctl logs; renew your own: docs/own-pki.md";
  if (until <= now) return [{ code: "CRT1101", severity: "error", message: `${name}: expired at ${date}`, remedy }];
  if (until - now >= Math.min(SOON_MS, (until - from) / 3)) return [];
  const days = Math.floor((until - now) / DAY_MS);
  return [{ code: "CRT1101", severity: "warning", message: `${name}: ends in ${days} d, at ${date}, and is not renewed yet`, remedy }];
}

const DAY_MS = 24 * 3_600_000;
// Those of others are replaced in all clusters by hand. What lives shorter is renewed in the last third, as cert-manager does by default.
const SOON_MS = 60 * DAY_MS;

/** How agents are authenticated. */
export const agentsAreAuthenticated: Check = {
  category,
  description: "Agents are authenticated by client certificates",
  reads: ["deployments"],
  findings: ({ deployments }) =>
    hasClientCertificates(deployments) !== false
      ? []
      : [
          {
            code: "SEC1014",
            severity: "warning",
            message: "the management server runs without client certificates: any holder of the relay token can act as any cluster",
            remedy: "set relay.disableClientCertificateAuthentication to false in the values of the server and of all agents",
          },
        ],
};

/** What the leading server says of the Redis that servers share, in the status of the Settings. Without Redis it says nothing. */
export const storeHasRoom: Check = {
  category,
  description: "Redis keeps what servers write",
  codes: INSIGHT_GROUPS.store,
  reads: ["settings"],
  applies: ({ settings }) => settings.some(({ status }) => status?.conditions?.some(({ type }) => type === STORE_ROOM) === true),
  findings: (state) => [
    ...insightsWith(state, INSIGHT_GROUPS.store),
    ...state.settings.flatMap((settings) => roomUnknown(settings, state.namespace)),
  ],
};

function roomUnknown({ status }: Settings, namespace: string): readonly CheckFinding[] {
  const unknown = status?.conditions?.find((condition) => condition.type === STORE_ROOM && condition.status === "Unknown");
  if (unknown === undefined) return [];
  const remedy = `kubectl -n ${namespace} describe settings settings; docs/operations/replicas-and-redis.md`;
  return [{ code: "REL1103", severity: "info", message: unknown.message ?? "", remedy }];
}

const STORE_ROOM = "StoreHasRoom";
