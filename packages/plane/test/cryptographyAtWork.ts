import { macrotask } from "@isthmus/simulator";

const METHODS = ["decrypt", "deriveBits", "digest", "encrypt", "exportKey", "generateKey", "importKey", "sign", "verify"] as const;
const PAUSE_MS = 1;

let atWork = 0;

// Its threads take real time, more on a busy machine: virtual time that passes meanwhile would be no time for what waits for a key.
const { subtle } = globalThis.crypto;
for (const method of METHODS) {
  const original = subtle[method] as (...values: unknown[]) => Promise<unknown>;
  const counted = async (...values: unknown[]) => {
    atWork++;
    try {
      return await original.apply(subtle, values);
    } finally {
      atWork--;
    }
  };
  Object.defineProperty(subtle, method, { value: counted, configurable: true });
}

/** Resolves when all that needs no time but that of cryptography has happened, in this thread and with WebCrypto. */
export async function settledWithCryptography(): Promise<void> {
  await macrotask();
  while (atWork > 0) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    // What follows may ask for more.
    await macrotask();
  }
}
