import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";

/**
 * WebCrypto whose answers are there at once: under a virtual clock nothing may take real time, or a schedule would not be the same each
 * time. The cryptography is real. Keys of RSA come from a pool that grows: to make one takes long, and which one it is matters to nobody.
 */

interface Key {
  readonly type: "private" | "public";
  readonly extractable: boolean;
  readonly algorithm: Algorithm;
  readonly usages: readonly string[];
  readonly object: KeyObject;
}

interface Algorithm {
  readonly name: string;
  readonly namedCurve?: string;
  readonly modulusLength?: number;
}

interface Pair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const pool: Pair[] = [];
let taken = 0;

function nextRsaPair(modulusLength: number): Pair {
  const pair = pool[taken] ?? generateKeyPairSync("rsa", { modulusLength });
  pool[taken++] = pair;
  return pair;
}

function keyOf(object: KeyObject, algorithm: Algorithm, usages: readonly string[]): Key {
  const type = object.type === "private" ? "private" : "public";
  const { modulusLength } = object.asymmetricKeyDetails ?? {};
  return { type, extractable: true, usages, object, algorithm: modulusLength === undefined ? algorithm : { ...algorithm, modulusLength } };
}

function hashOf(algorithm: string | { readonly name: string }): string {
  return (typeof algorithm === "string" ? algorithm : algorithm.name).replace("-", "").toLowerCase();
}

function inBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

/** As WebCrypto has signatures of elliptic curves. */
function signatureKey({ object, algorithm }: Key) {
  return algorithm.name === "ECDSA" ? { key: object, dsaEncoding: "ieee-p1363" as const } : object;
}

const SUBTLE = {
  digest: async (algorithm: string | { readonly name: string }, data: Uint8Array | ArrayBuffer) =>
    inBuffer(createHash(hashOf(algorithm)).update(bytesOf(data)).digest()),
  sign: async (_: Algorithm, key: Key, data: Uint8Array | ArrayBuffer) => inBuffer(sign("sha256", bytesOf(data), signatureKey(key))),
  verify: async (_: Algorithm, key: Key, signature: Uint8Array | ArrayBuffer, data: Uint8Array | ArrayBuffer) =>
    verify("sha256", bytesOf(data), signatureKey(key), bytesOf(signature)),
  async importKey(
    format: "pkcs8" | "spki" | "jwk",
    data: Uint8Array | ArrayBuffer | object,
    algorithm: Algorithm,
    _: boolean,
    usages: string[],
  ) {
    if (format === "jwk") return keyOf(createPublicKey({ key: data as JsonWebKey, format }), algorithm, usages);
    const der = { key: bytesOf(data as Uint8Array), format: "der" as const };
    const object = format === "pkcs8" ? createPrivateKey({ ...der, type: format }) : createPublicKey({ ...der, type: format });
    if ((algorithm.name === "ECDSA") !== (object.asymmetricKeyType === "ec")) throw new TypeError("a key of another kind");
    return keyOf(object, algorithm, usages);
  },
  async exportKey(format: "pkcs8" | "spki" | "jwk", { object }: Key) {
    return format === "jwk" ? object.export({ format }) : inBuffer(object.export({ format: "der", type: format } as never) as Buffer);
  },
  async generateKey(algorithm: Algorithm) {
    const { privateKey, publicKey } =
      algorithm.name === "ECDSA" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : nextRsaPair(algorithm.modulusLength ?? 0);
    return { privateKey: keyOf(privateKey, algorithm, ["sign"]), publicKey: keyOf(publicKey, algorithm, ["verify"]) };
  },
};

function bytesOf(data: Uint8Array | ArrayBuffer): Buffer {
  return data instanceof ArrayBuffer ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

/** Until what is given back is called, in this thread. `first`: how many keys of the pool are in use already. */
export function promptCrypto(first: number): () => void {
  taken = first;
  Object.defineProperty(globalThis.crypto, "subtle", { value: SUBTLE, configurable: true });
  return () => void Reflect.deleteProperty(globalThis.crypto, "subtle");
}

/** How many keys of the pool were given out. */
export function keysTaken(): number {
  return taken;
}
