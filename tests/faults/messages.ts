import type { Down, Up } from "./disturbedNetwork.ts";
import { CANARY } from "./objects.ts";
import { MAX_MESSAGE_BYTES, TRUST_MESSAGE_BYTES } from "./processes.ts";
import type { FleetTrust } from "./trust/fleetTrust.ts";

/** What no message may be, in words; undefined for one that is in order. `trust`: where meshes have certificates, and with them keys. */
export function problemOfMessage(
  { body }: Down | Up,
  trust?: Pick<FleetTrust, "tellsKey">,
): { readonly rule: "message too large" | "secret told"; readonly what: string } | undefined {
  const upserts = body.case === "up" || body.case === "down" ? body.value.upserts : [];
  let bytes = 0;
  for (const { ref, json } of upserts) {
    bytes += json.length;
    if (Buffer.from(json.buffer, json.byteOffset, json.length).includes(CANARY)) {
      return { rule: "secret told", what: `${ref?.kind} ${ref?.name} holds what is in a Secret` };
    }
    if (trust?.tellsKey(json) === true) return { rule: "secret told", what: `${ref?.kind} ${ref?.name} holds a private key` };
  }
  // Without what belongs around the objects: this is the least that it can be.
  const most = trust === undefined ? MAX_MESSAGE_BYTES : TRUST_MESSAGE_BYTES;
  if (bytes > most) return { rule: "message too large", what: `${bytes} bytes, where ${most} is the most` };
  return undefined;
}
