import type { Random } from "../../faults/random.ts";
import { EVIL } from "./fleetObjects.ts";
import { framed } from "./frames.ts";
import { deepValue, hostileText, hostileValue, wideValue } from "./hostile.ts";
import { mutatedText } from "./mutated.ts";

const REF = { apiVersion: "networking.istio.io/v1", kind: "VirtualService", name: "a", namespace: "b", clusterName: EVIL };
const AT = 1_764_000_000_000;

const INSIGHT = {
  code: "RTE1001",
  category: "RTE",
  severity: "error",
  object: REF,
  cluster: EVIL,
  field: "spec.http[0].route[0].destination.host",
  message: "Service b/c does not exist in evil",
  remedy: { text: "correct the host", command: "kubectl --context evil -n b edit virtualservice a", patch: '{"spec":{}}' },
  targets: [REF],
};
const DATED = { insight: INSIGHT, since: AT, suppression: { reason: "known", until: "2027-01-31", by: "annotation" } };

/** The kinds under which insights stand, and others. */
const KIND_KEYS = [
  "networking.istio.io/VirtualService",
  "networking.istio.io/VirtualService",
  "/Service",
  "insights.isthmus.mesh/EndedInsight",
  "__proto__",
  "x",
];

/** What a leader says of a moment. */
const META = { at: AT, writtenBy: "somebody" };
const MOMENTS = ["1e400", "-1e400", "9e99", "8.64e15", "-1", "0.5", "null", '"now"', "[]"];

/** What a server writes of one object, mostly wrong somewhere; of another version, too deep or too large at times. */
function keptText(random: Random, kindKey: string): string {
  const { clusterName, namespace, name, ...kind } = REF;
  const object = { ...kind, metadata: { name, namespace, clusterName } };
  const count = random.int(40) === 0 ? 2_000 : 1 + random.int(3);
  const ended = {
    ...object,
    ended: { object: REF, code: "RTE1001", severity: "error", field: "spec", message: "m", since: AT, until: AT + 1 },
  };
  const whole = {
    ...object,
    insights: Array.from({ length: count }, () => DATED),
    problems: ["VirtualService b/a in evil: is not understood"],
  };
  const value = kindKey.endsWith("/EndedInsight") ? ended : whole;
  switch (random.int(14)) {
    case 0:
      return hostileValue(random);
    case 1:
      return deepValue(random);
    case 2:
      return placed(JSON.stringify(value), '"m"', random.pick([deepValue, wideValue, hostileValue])(random));
    case 3:
      return placed(placed(JSON.stringify(value), '"correct the host"', hostileText(random)), '"known"', hostileText(random));
    case 4:
      return placed(JSON.stringify(value), String(AT), random.pick(MOMENTS));
    case 5:
      return placed(JSON.stringify(value), '"RTE1001"', random.pick(['"__proto__"', '"constructor"', '"RTE9999"', '"toString"', "7"]));
    case 6:
      return placed(
        JSON.stringify(value),
        `"${random.pick(["since", "until", "remedy", "object", "targets", "suppression", "problems"])}"`,
        '"later"',
      );
    case 7:
      // More than a resource may have.
      return random.int(4) === 0 ? placed(JSON.stringify(value), '"spec', `"${"x".repeat(1_200_000)}`) : "null";
    default:
      return mutatedText(value, random, random.pick([0, 1, 1, 2, 4]));
  }
}

/** With something else at the first place of a part. */
function placed(text: string, part: string, by: string): string {
  return text.replace(part, () => by);
}

/** What the section of insights holds: the moment, then kind, key and text of each object. */
export function storedInsights(random: Random): Buffer {
  const kindKeys = Array.from({ length: 1 + random.int(3) }, () => random.pick(KIND_KEYS));
  const objects = kindKeys.flatMap((kindKey) =>
    Array.from({ length: 1 + random.int(3) }, () => [
      Buffer.from(kindKey),
      Buffer.from(`${random.pick(["a", "c", "", "000001764000000-00"])}.b.${random.pick([EVIL, EVIL, "", "__proto__"])}`),
      Buffer.from(keptText(random, kindKey)),
    ]),
  );
  const meta = [
    JSON.stringify(META),
    mutatedText(META, random, 1),
    hostileValue(random),
    placed(JSON.stringify(META), String(AT), random.pick(MOMENTS)),
  ];
  return framed([Buffer.from(random.pick(meta)), ...objects.flat()]);
}
