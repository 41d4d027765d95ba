import { Secret } from "@isthmus/api";
import type { Log } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { GENERATED_SECRET, type GeneratedIdentity, generatedData, generatedIn, publishedSecrets } from "./relaySecrets.ts";
import { ensureSecret, type SecretData, secretOf, secretTexts } from "./secretData.ts";

/** Annotation on a Secret that we made: a digest of what we wrote. As long as it fits, nobody else has changed the Secret. */
const GENERATED = "isthmus.mesh/generated";

export interface SecretLocation {
  readonly cluster: Cluster;
  readonly namespace: string;
}

/** Keeps an identity that nobody has made before; gives that of another replica that was faster. */
export async function keepGenerated(
  { cluster, namespace }: SecretLocation,
  make: () => Promise<GeneratedIdentity>,
  signal?: AbortSignal,
): Promise<GeneratedIdentity> {
  const data = await ensureSecret(cluster, { name: GENERATED_SECRET, namespace }, async () => generatedData(await make()), signal);
  return generatedIn(data, namespace);
}

/** Takes the next step of a generated identity, in the very version that was read: of two replicas one takes it. Gives undefined when there is none: users' own certificates are used. */
export async function stepGenerated(
  { cluster, namespace }: SecretLocation,
  step: (identity: GeneratedIdentity) => Promise<GeneratedIdentity>,
  signal?: AbortSignal,
): Promise<GeneratedIdentity | undefined> {
  const found = await cluster.get(Secret, { name: GENERATED_SECRET, namespace }, signal);
  if (found === undefined) return undefined;
  const before = generatedIn(secretTexts(found), namespace);
  const next = await step(before);
  if (next === before) return before;
  await cluster.update(withData(found, generatedData(next)), signal);
  return next;
}

/** Makes the published Secrets say what a generated identity is: creates those that are absent, and changes those that are as we wrote them. Others are users' own. */
export async function publishGenerated(
  { cluster, namespace }: SecretLocation,
  identity: GeneratedIdentity,
  { log, signal }: { readonly log: Log; readonly signal?: AbortSignal },
): Promise<void> {
  for (const [name, wanted] of publishedSecrets(identity)) {
    const found = await cluster.get(Secret, { name, namespace }, signal);
    const digest = await digestOf(wanted);
    if (found === undefined) {
      const made = secretOf({ name, namespace }, wanted);
      await cluster
        .create({ ...made, metadata: { ...made.metadata, annotations: { [GENERATED]: digest } } }, signal)
        .catch(ignored("AlreadyExists"));
      continue;
    }
    const written = found.metadata.annotations?.[GENERATED];
    if (written !== (await digestOf(secretTexts(found)))) {
      log.debug({ secret: name }, `Secret ${namespace}/${name} was changed after this server generated it: it is used and not renewed`);
    } else if (written !== digest) {
      const annotations = { ...found.metadata.annotations, [GENERATED]: digest };
      const next = withData(found, wanted);
      await cluster.update({ ...next, metadata: { ...next.metadata, annotations } }, signal).catch(ignored("Conflict"));
      log.info({ secret: name }, `renewed Secret ${namespace}/${name}`);
    }
  }
}

/** Another replica, or a user, was faster: the next round sees what is there. */
function ignored(code: ClusterError["code"]): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ClusterError && error.code === code)) throw error;
  };
}

function withData(found: Secret, data: SecretData): Secret {
  const { managedFields: _, ...metadata } = found.metadata;
  const { data: encoded } = secretOf({ name: metadata.name, namespace: metadata.namespace ?? "" }, data);
  return { ...found, metadata, ...(encoded === undefined ? {} : { data: encoded }) };
}

async function digestOf(data: SecretData): Promise<string> {
  const sorted = JSON.stringify(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)));
  const digest = await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(sorted));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
