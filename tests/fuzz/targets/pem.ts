import {
  certificateFacts,
  chainFacts,
  createRequest,
  createRoot,
  fingerprints,
  InvalidPem,
  isSignedBy,
  issueClientCertificate,
} from "@isthmus/certificates";
import { hostilePem } from "../drawing/pem.ts";
import { PEM_SEEDS } from "../drawing/pemSeeds.ts";
import type { Target } from "../target.ts";

/** What an agent sends to be signed, and what Secrets hold as certificates. */
export const pem: Target = {
  name: "pem",
  about: "certificates, chains and certificate requests as PEM: reading, and issuing for them",
  draw: (random) => hostilePem(random, PEM_SEEDS),
  async start() {
    const authority = await createRoot({ commonName: "root", now: Date.now() });
    const sound = await createRequest("sound");
    const names = { dnsNames: ["evil"], now: Date.now() };
    return {
      async take(input) {
        const text = input.toString("utf8");
        // What costs more is done with what has come that far.
        await refusedOr(() => fingerprints(text));
        await refusedOr(() => chainFacts(text));
        if (await refusedOr(() => certificateFacts(text))) await refusedOr(() => isSignedBy(text, authority.certificate));
        await refusedOr(() => issueClientCertificate(authority, text, names));
        if (text.includes("KEY")) await refusedOr(() => issueClientCertificate({ ...authority, key: text }, sound.request, names));
      },
      stop: async () => undefined,
    };
  },
};

/** Says whether the call succeeded: anything but a refusal is a failure. */
async function refusedOr(call: () => unknown): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (error instanceof InvalidPem) return false;
    throw error;
  }
}
