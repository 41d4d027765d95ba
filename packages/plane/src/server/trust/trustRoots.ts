import { ROOT_OPTIONS, Secret, type VirtualMesh } from "@isthmus/api";
import { checkedRoot, createMeshRoot, fingerprints, type KeyedCertificate, type TrustRoot } from "@isthmus/certificates";
import { type Clock, equalJson, keptText, type Log, messageOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { rootOptionsOf } from "@isthmus/translators";
import { secretOf, secretTexts } from "../../identity/secretData.ts";
import { GENERATED_ROOT_TYPE } from "./earlierRoots.ts";

/** A root below which the CAs of meshes are signed, or why it can't be used. */
export type KnownRoot = { readonly root: TrustRoot } | { readonly problem: string };

interface RootRef {
  readonly name: string;
  readonly namespace: string;
}

/** The roots in Secrets of the management cluster. Keys are read where something is signed, and kept nowhere. */
export interface TrustRoots {
  /**
   * What is known of a root; undefined until it has been looked at: then `changed` is called. `version`: of the Secret as it is watched;
   * what is not watched is looked at again after a while.
   */
  of(ref: RootRef, version: string | undefined): KnownRoot | undefined;
  /** The same as it was when it was looked at last. */
  known(ref: RootRef): KnownRoot | undefined;
  /** The root with its key. Throws RootProblem. */
  signing(ref: RootRef, signal: AbortSignal): Promise<KeyedCertificate>;
  /** Makes the root of a VirtualMesh, unless its Secret exists. */
  generate(ref: RootRef, virtualMesh: VirtualMesh, signal: AbortSignal): Promise<void>;
}

/** Why a root can't be used: a sentence with Secret and remedy. */
export class RootProblem extends Error {
  override readonly name = "RootProblem";
}

export interface TrustRootsOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
  readonly changed: () => void;
}

/**
 * Reads a root when `of` is called with another version of its Secret, or a minute after the last reading; it is unknown until it has been
 * read once.
 */
export function trustRoots({ cluster, clock, log, changed }: TrustRootsOptions, signal: AbortSignal): TrustRoots {
  /** By name and namespace, of the version of the Secret that was looked at. */
  const known = new Map<string, { readonly version: string | undefined; readonly root: KnownRoot | undefined; readonly at: number }>();
  const generating = new Set<string>();

  async function read(ref: RootRef, until: AbortSignal): Promise<KeyedCertificate> {
    const what = `Secret ${ref.namespace}/${ref.name} of the management cluster`;
    const found = await cluster.get(Secret, ref, until).catch((error: unknown) => {
      if (error instanceof ClusterError && error.code === "Forbidden") {
        throw new RootProblem(
          `${what} cannot be read: ${error.message}: grant the ServiceAccount of the management server get of this Secret with a Role in namespace ` +
            `${ref.namespace} (docs/reference/rbac.md), or move it to the namespace of the server`,
        );
      }
      throw error;
    });
    if (found === undefined) throw new RootProblem(`${what} does not exist: create it with root-cert.pem and key.pem`);
    const checked = await checkedRoot(secretTexts(found), clock.now());
    if ("problem" in checked) throw new RootProblem(`${what}: ${checked.problem}`);
    return checked.root;
  }

  async function look(key: string, ref: RootRef, version: string | undefined): Promise<void> {
    const at = clock.now();
    const root = await rootIn(ref);
    const before = known.get(key);
    known.set(key, { version, root: root ?? before?.root, at });
    if (!equalJson(before?.root, root)) changed();
  }

  async function rootIn(ref: RootRef): Promise<KnownRoot | undefined> {
    try {
      const { certificate } = await read(ref, signal);
      const [fingerprint = ""] = await fingerprints(certificate);
      return { root: { fingerprint, certificate: certificate.endsWith("\n") ? certificate : `${certificate}\n` } };
    } catch (error) {
      if (error instanceof RootProblem) return { problem: error.message };
      if (!signal.aborted) log.warn({ secret: ref.name }, `cannot read Secret ${ref.namespace}/${ref.name}: ${messageOf(error)}; retrying`);
      return undefined;
    }
  }

  return {
    of(ref, version) {
      const key = `${ref.namespace}/${ref.name}`;
      const found = known.get(key);
      // It expires while nobody changes it.
      if (found === undefined || found.version !== version || clock.now() > found.at + RECHECK_MS) {
        known.set(key, { version, root: found?.root, at: clock.now() });
        void look(key, ref, version);
      }
      return found?.root;
    },
    known: (ref) => known.get(`${ref.namespace}/${ref.name}`)?.root,
    signing: read,
    async generate(ref, virtualMesh, until) {
      const key = `${ref.namespace}/${ref.name}`;
      if (generating.has(key)) return;
      generating.add(key);
      try {
        if ((await cluster.get(Secret, ref, until)) !== undefined) return;
        const made = await newRoot(virtualMesh, clock.now());
        const secret = secretOf(ref, { "root-cert.pem": made.certificate, "key.pem": made.key });
        // Only created, never changed: of two leaders one makes it.
        const annotations = { [ROOT_OPTIONS]: JSON.stringify(rootOptionsOf(virtualMesh)) };
        await cluster.create({ ...secret, type: GENERATED_ROOT_TYPE, metadata: { ...secret.metadata, annotations } } as Secret, until);
        log.info({ secret: key }, `generated the root of VirtualMesh ${virtualMesh.metadata.namespace ?? ""}/${virtualMesh.metadata.name}`);
      } catch (error) {
        const isLater = error instanceof ClusterError && error.code === "AlreadyExists";
        if (!isLater && !until.aborted) log.warn({ secret: key }, `cannot generate a root: ${messageOf(error)}; retrying`);
      } finally {
        generating.delete(key);
      }
    },
  };
}

function newRoot(virtualMesh: VirtualMesh, now: number): Promise<KeyedCertificate> {
  const { metadata } = virtualMesh;
  const { ttlDays, rsaKeySizeBytes, orgName } = rootOptionsOf(virtualMesh);
  const commonName = keptText(`root of ${metadata.name}.${metadata.namespace ?? ""}`, LONGEST_COMMON_NAME);
  const options = { commonName, organization: orgName, lifetimeMs: ttlDays * DAY_MS, now };
  return createMeshRoot(options, rsaKeySizeBytes);
}

const DAY_MS = 86_400_000;
const RECHECK_MS = 60_000;
// Source: RFC 5280, ub-common-name.
const LONGEST_COMMON_NAME = 64;
