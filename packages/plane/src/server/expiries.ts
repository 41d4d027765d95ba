import { IssuedCertificate, Secret } from "@isthmus/api";
import { chainFacts, InvalidPem } from "@isthmus/certificates";
import type { Metric, Snapshot } from "@isthmus/core";
import { RELAY_SECRETS } from "../identity/relaySecrets.ts";
import { decodedText } from "../identity/secretData.ts";
import type { SnapshotStore } from "../snapshots/snapshotStore.ts";

/** What a certificate is for: of the relay, of an agent, the CA of a mesh, or a root of meshes. */
type CertificateUse = "relayRoot" | "relaySigning" | "relayServer" | "agent" | "meshIntermediate" | "meshRoot";

interface Expiry {
  readonly use: CertificateUse;
  /** "" is the management cluster. */
  readonly cluster: string;
  /** Milliseconds since 1970. */
  readonly notAfter: number;
}

/** When the first certificate of each use expires in each cluster, as figures. `management`: with Secrets of the plane's namespace. */
export function expiryMetrics({ management, store }: { readonly management: Snapshot; readonly store: SnapshotStore }): readonly Metric[] {
  const first = new Map<string, Expiry>();
  for (const expiry of [...inManagement(management), ...inClusters(store)]) {
    const key = `${expiry.use}/${expiry.cluster}`;
    if (expiry.notAfter < (first.get(key)?.notAfter ?? Number.POSITIVE_INFINITY)) first.set(key, expiry);
  }
  return [...first.values()].map(({ use, cluster, notAfter }) => ({
    name: "gloo_mesh_certificate_expiry_timestamp_seconds",
    labels: { cluster, use },
    value: notAfter / 1000,
  }));
}

function inManagement(management: Snapshot): readonly Expiry[] {
  return [...management.of(Secret)].flatMap(({ metadata, data = {} }) => {
    // Another Secret with a key beside a root is what CAs of meshes are signed with. Of keys nothing but the name is seen here.
    const found = OF_RELAY.get(metadata.name) ?? (data["key.pem"] === undefined ? undefined : MESH_ROOT);
    return found === undefined ? [] : expiriesIn(data[found.key], { use: found.use, cluster: "" });
  });
}

function inClusters(store: SnapshotStore): readonly Expiry[] {
  return [...store.clusters].flatMap(([cluster, { agent }]): Expiry[] => {
    const intermediates = [...store.snapshotIn(cluster).of(IssuedCertificate)].map(({ status }) =>
      Date.parse(status?.installed?.notAfter ?? ""),
    );
    return [
      ...(agent?.certificate === undefined ? [] : [{ use: "agent", cluster, notAfter: agent.certificate.notAfter } as const]),
      ...intermediates
        .filter((notAfter) => !Number.isNaN(notAfter))
        .map((notAfter) => ({ use: "meshIntermediate", cluster, notAfter }) as const),
    ];
  });
}

/** None of what is no certificate: whoever uses it says so. */
function expiriesIn(encoded: string | undefined, of: Omit<Expiry, "notAfter">): readonly Expiry[] {
  try {
    return encoded === undefined || encoded === "" ? [] : chainFacts(decodedText(encoded)).map(({ notAfter }) => ({ ...of, notAfter }));
  } catch (error) {
    if (error instanceof InvalidPem) return [];
    throw error;
  }
}

interface Place {
  readonly use: CertificateUse;
  /** In the data of the Secret. */
  readonly key: string;
}

const OF_RELAY: ReadonlyMap<string, Place> = new Map([
  [RELAY_SECRETS.root, { use: "relayRoot", key: "ca.crt" }],
  [RELAY_SECRETS.signing, { use: "relaySigning", key: "tls.crt" }],
  [RELAY_SECRETS.server, { use: "relayServer", key: "tls.crt" }],
]);
const MESH_ROOT: Place = { use: "meshRoot", key: "root-cert.pem" };
