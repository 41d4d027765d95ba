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

const generateKey = subtle.generateKey.bind(subtle) as (...values: unknown[]) => Promise<unknown>;
const pairs = new Map<string, Promise<unknown>[]>();
const taken = new Map<string, number>();

// Keys of RSA take most of the processor time of tests about trust: those of one test are never the same, those of the next one are the same again.
Object.defineProperty(subtle, "generateKey", {
  value: (algorithm: { readonly name?: string }, ...rest: unknown[]) => {
    if (algorithm.name?.startsWith("RSA") !== true) return generateKey(algorithm, ...rest);
    const form = JSON.stringify([algorithm, rest]);
    const known = pairs.get(form) ?? [];
    const number = taken.get(form) ?? 0;
    taken.set(form, number + 1);
    pairs.set(form, known);
    known[number] ??= generateKey(algorithm, ...rest);
    return known[number];
  },
  configurable: true,
});

/** Begins with the first key again: for a test that shares nothing with those before it. */
export function reuseKeys(): void {
  taken.clear();
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
