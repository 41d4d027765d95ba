import type { Down, Up } from "./disturbedNetwork.ts";
import { CANARY } from "./objects.ts";
import { MAX_MESSAGE_BYTES } from "./processes.ts";

/** What no message may be, in words; undefined for one that is in order. */
export function problemOfMessage({
  body,
}: Down | Up): { readonly rule: "message too large" | "secret told"; readonly what: string } | undefined {
  const upserts = body.case === "up" || body.case === "down" ? body.value.upserts : [];
  let bytes = 0;
  for (const { ref, json } of upserts) {
    bytes += json.length;
    if (Buffer.from(json.buffer, json.byteOffset, json.length).includes(CANARY)) {
      return { rule: "secret told", what: `${ref?.kind} ${ref?.name} holds what is in a Secret` };
    }
  }
  // Without what belongs around the objects: this is the least that it can be.
  if (bytes > MAX_MESSAGE_BYTES) return { rule: "message too large", what: `${bytes} bytes, where ${MAX_MESSAGE_BYTES} is the most` };
  return undefined;
}
