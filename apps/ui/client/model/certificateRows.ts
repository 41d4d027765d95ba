import type { ConsoleCertificate } from "@isthmus/console/wire";
import type { Fleet } from "../data/fleet.ts";
import { IssuedCertificate } from "../data/kinds.ts";
import { t } from "../strings.ts";
import { millisecondsOf } from "./age.ts";
import { registrationsIn } from "./clusters/registrations.ts";
import { type Status, titled } from "./status.ts";

/** What is known of certificates, and whether that is by the word of a server, or only what agents report. */
export interface KnownCertificates {
  readonly certificates: readonly ConsoleCertificate[];
  readonly isOfServer: boolean;
}

/** Those that a server knows; without one those that clusters report of themselves: of agents, and of the CAs of meshes. Those that end first come first. */
export function knownCertificates(fleet: Fleet): KnownCertificates {
  const isOfServer = fleet.source?.kind === "server" || fleet.certificates.length > 0;
  const certificates = isOfServer ? fleet.certificates : reported(fleet);
  return { certificates: [...certificates].sort((a, b) => end(a) - end(b)), isOfServer };
}

function end({ notAfter }: ConsoleCertificate): number {
  return millisecondsOf(notAfter) ?? Number.MAX_SAFE_INTEGER;
}

function reported(fleet: Fleet): readonly ConsoleCertificate[] {
  const agents = registrationsIn(fleet).flatMap(({ metadata: { name }, status }): readonly ConsoleCertificate[] => {
    const notAfter = status?.agent?.certificateNotAfter;
    return notAfter === undefined ? [] : [{ kind: "agent", cluster: name, name, notAfter }];
  });
  const meshes = [...fleet.snapshot.of(IssuedCertificate)].flatMap(({ metadata, status }): readonly ConsoleCertificate[] => {
    const notAfter = status?.installed?.notAfter;
    return notAfter === undefined ? [] : [{ kind: "meshIntermediate", cluster: metadata.clusterName ?? "", name: metadata.name, notAfter }];
  });
  return [...agents, ...meshes];
}

const TONES: ReadonlyMap<string, Status["tone"]> = new Map([
  ["VALID", "good"],
  ["NO_EXPIRY", "good"],
  ["EXPIRING", "warning"],
  ["EXPIRED", "bad"],
]);

/** The state of a certificate; of one of which only the end is known, whether that has passed. `now` in milliseconds since 1970. */
export function certificateStatus({ state, notAfter }: ConsoleCertificate, now: number): Status {
  const end = millisecondsOf(notAfter);
  const known = state ?? (end === undefined ? "UNKNOWN" : end <= now ? "EXPIRED" : "VALID");
  return { tone: TONES.get(known) ?? "unknown", word: titled(known) };
}

/**
 * The certificate that is to be looked at first: one that has ended or should have been replaced, else the one that ends first. A root that no VirtualMesh
 * uses is not looked at. `now` in milliseconds since 1970.
 */
export function firstToEnd(certificates: readonly ConsoleCertificate[], now: number): ConsoleCertificate | undefined {
  const isFine = (certificate: ConsoleCertificate) => (certificateStatus(certificate, now).tone === "good" ? 1 : 0);
  return certificates
    .filter(
      ({ kind, virtualMesh, notAfter }) => millisecondsOf(notAfter) !== undefined && (kind !== "meshRoot" || virtualMesh !== undefined),
    )
    .sort((a, b) => isFine(a) - isFine(b) || end(a) - end(b))[0];
}

/** What a certificate is for, in words. */
export function certificateUse({ kind }: ConsoleCertificate): string {
  return t.certificates.uses.get(kind) ?? kind;
}
