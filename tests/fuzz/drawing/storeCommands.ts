import type { Random } from "../../faults/random.ts";
import { EVIL, evilObjectText, forgedObjectText, managementObjectText } from "./fleetObjects.ts";
import { framed } from "./frames.ts";
import { deepValue, hostileText, hostileValue } from "./hostile.ts";
import { mutatedBytes, mutatedText } from "./mutated.ts";

const CLUSTERS = [EVIL, EVIL, "good-1", "good-2", "", "__proto__", "nobody"];
const KIND_KEYS = ["/Service", "/Pod", "apps/Deployment", "networking.mesh.gloo.solo.io/TrafficPolicy", "__proto__", "x"];
const SECTIONS = ["input", "translated"];

/** What a replica says of a cluster. */
export const META = {
  servedBy: "somebody",
  connected: true,
  phase: "synced",
  isHeard: true,
  agent: { instance: "i", version: "v", agentNamespace: "n", clusterUid: "u", features: ["ask"] },
  delivered: { digest: "0000000000000000", held: 1, rejected: [{ ref: {}, code: "Failed", message: "m" }] },
};

const HEAD = {
  version: { fence: 9e15, sequence: 1 },
  complete: true,
  kinds: { "/Service": { count: 1, digest: "0000000000000000" } },
  meta: META,
};

/** A head of a partition as JSON, mostly wrong somewhere. */
function head(random: Random): string {
  return random.int(8) === 0 ? hostileValue(random) : mutatedText(HEAD, random, random.pick([0, 1, 2]));
}

/** What a replica announces, each field of it in its place, as JSON. */
function notice(random: Random): string {
  const fence = [
    random.pick(["input/evil", "input/good-1", "translated", "x"]),
    random.pick(["1", "9007199254740993", "1e400", "-1", "x"]),
  ];
  const partition = [random.pick(SECTIONS), random.pick(CLUSTERS)];
  const type = random.pick(["written", "written", "cleared", "raised", "recorded", "distrusted", "__proto__", ""]);
  const counts = Array.from({ length: 3 }, () => random.pick(["0", "1", "2", "-1", "1e9", "4294967296", "x"]));
  const version = random.pick(["", "1.1", "9.9", "a.b", "1e400.1"]);
  const texts = Array.from({ length: random.int(6) }, () => random.pick([random.pick(KIND_KEYS), "a.b.evil", evilObjectText(random)]));
  const said: unknown[] = [
    type,
    ...fence,
    ...partition,
    version,
    "9.1",
    head(random),
    "",
    random.pick(["all", "head", ""]),
    ...counts,
    ...texts,
  ];
  if (type === "recorded") said.splice(1, said.length, random.pick(["revocations", "replicas", "join-tokens"]), random.pick(CLUSTERS));
  return mutatedText(said, random, random.pick([0, 0, 1, 2]));
}

function channelText(random: Random): Buffer {
  switch (random.int(6)) {
    case 0:
      return Buffer.from(hostileValue(random));
    case 1:
      return Buffer.from(random.pick(["", "null", "1", "{", "[]", "hello", '["written"]', deepValue(random)]));
    default:
      return mutatedBytes(Buffer.from(notice(random)), random, 1);
  }
}

function objectText(random: Random): string {
  return random.pick([evilObjectText, forgedObjectText, managementObjectText, (from: Random) => hostileValue(from)])(random);
}

const RECORDS: Readonly<Record<string, readonly string[]>> = {
  revocations: ["1", "9e99", "x", "-1", "NaN"],
  replicas: ["{}", "null", '{"startedAt":1}', "x"],
  "join-tokens": ['{"hash":"x","cluster":"evil","created":1,"expires":9e15}', "{", "null"],
};

/** Commands of somebody who may write to Redis: words of one command each, framed twice. */
export function redisCommands(random: Random, prefix: string): Buffer {
  return framed(Array.from({ length: 1 + random.int(4) }, () => framed(redisCommand(random, prefix))));
}

function redisCommand(random: Random, prefix: string): readonly Buffer[] {
  const words = (...texts: readonly (string | Buffer)[]) => texts.map((text) => Buffer.from(text as string));
  const [section, clusterName] = [random.pick(SECTIONS), random.pick(CLUSTERS)];
  switch (random.int(10)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return words("PUBLISH", `${prefix}changes`, channelText(random));
    case 4:
      return words("HSET", `${prefix}${section}:heads`, clusterName, head(random));
    case 5:
      return words("HSET", `${prefix}${section}:versions`, clusterName, random.pick(["9.1", "", "x", "1e400.1", "9007199254740993.0"]));
    case 6:
      return words(
        "HSET",
        `${prefix}${section}:objects:${clusterName}:${random.pick(KIND_KEYS)}`,
        `a.b.${clusterName}`,
        objectText(random),
      );
    case 7: {
      const [group, values] = random.pick(Object.entries(RECORDS));
      return words("SET", `${prefix}record:${group}:${clusterName}`, random.int(3) === 0 ? hostileText(random) : random.pick(values));
    }
    case 8:
      return words("SADD", `${prefix}records:${random.pick(Object.keys(RECORDS))}`, clusterName);
    default:
      // Of another type than it is to be, or gone.
      return random.int(2) === 0
        ? words("DEL", `${prefix}${random.pick(["id", "fences", "input:heads", "input:versions"])}`)
        : words("SET", `${prefix}${random.pick(["id", "fences", "input:heads"])}`, "x");
  }
}

/** What a store that is read holds: objects of one partition, with the head before them. */
export function storedPartition(random: Random): Buffer {
  const kindKeys = Array.from({ length: 1 + random.int(3) }, () => random.pick(KIND_KEYS));
  const objects = kindKeys.flatMap((kindKey) =>
    Array.from({ length: 1 + random.int(3) }, () => [
      Buffer.from(kindKey),
      Buffer.from(`${random.pick(["a", "b", ""])}.b.${EVIL}`),
      Buffer.from(objectText(random)),
    ]),
  );
  const meta = random.int(4) === 0 ? hostileValue(random) : mutatedText(META, random, random.pick([0, 0, 1]));
  return framed([Buffer.from(random.pick(SECTIONS)), Buffer.from(meta), ...objects.flat()]);
}
