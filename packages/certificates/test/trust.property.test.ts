import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  generationsInUse,
  isHandedOut,
  podsToRestart,
  type TrustGeneration,
  type TrustMember,
  type TrustRequest,
  trustInForce,
  trustPlan,
} from "../src/index.ts";

// A model of meshes: a control plane reads its Secret when it restarts, a proxy takes roots and certificate from it when it starts. The
// decisions are the real ones; messages between server and agents are lost, late and repeated, and everything restarts.

interface Proxy {
  readonly roots: readonly string[];
  readonly signer: string;
  readonly createdAt: number;
}

interface NumberedOrder extends TrustRequest {
  readonly term: number;
  readonly number: number;
}

interface ModelMesh {
  /** In the Secret, with all that the agent needs: nothing else survives its restart. */
  generations: readonly TrustGeneration[];
  controlPlane: { readonly roots: readonly string[]; readonly signer: string };
  proxies: Proxy[];
  /** What the agent was ordered last in this connection. */
  order: NumberedOrder | undefined;
  /** Connection of the agent; undefined: cut off. */
  term: number | undefined;
  /** On the wire. */
  sent: NumberedOrder | undefined;
  /** What another hand has put in the place of the Secret; undefined: nothing. */
  tampered: { readonly with: readonly TrustGeneration[] } | undefined;
  /** The own CA of the control plane, which it uses when it starts without a Secret. */
  readonly own: TrustGeneration;
  /** Earlier contents of the Secret, each below one root: what a backup of a mesh at rest has. */
  backups: (readonly TrustGeneration[])[];
  /** As the server knows it. */
  reported: { readonly member: TrustMember["trust"]; readonly order: ModelMesh["order"] } | undefined;
}

const NAMES = ["east", "west"];
type Op =
  | { readonly op: "report" | "order" | "deliver" | "install" | "readSecret" | "takenUp" | "cut" | "connect"; readonly at: number }
  | { readonly op: "restartProxy"; readonly at: number; readonly proxy: number }
  | { readonly op: "restartAgent" | "deleteSecret" | "repairSecret"; readonly at: number }
  | { readonly op: "restoreSecret"; readonly at: number; readonly backup: number }
  /** What happens in a mesh when nothing fails, but for the steps that are skipped. */
  | { readonly op: "round"; readonly at: number; readonly skipped: number }
  | { readonly op: "target"; readonly root: string }
  | { readonly op: "restartServer" };

const ROUND = [
  { op: "report" },
  { op: "order" },
  { op: "deliver" },
  { op: "report" },
  { op: "install" },
  { op: "readSecret" },
  { op: "takenUp" },
  { op: "restartProxy", proxy: 0 },
  { op: "restartProxy", proxy: 1 },
  { op: "report" },
] as const;

const at = fc.nat(NAMES.length - 1);
// Most often one of them fails, or the last ones.
const skipped = fc.oneof(
  fc.constant(0),
  fc.nat(ROUND.length - 1).map((i) => 1 << i),
  fc.nat(ROUND.length - 1).map((i) => ~((1 << i) - 1)),
  fc.nat(1023),
);
const operation: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ op: fc.constantFrom("report", "order", "deliver", "install", "readSecret", "takenUp" as const), at }),
  },
  { weight: 4, arbitrary: fc.record({ op: fc.constant("restartProxy" as const), at, proxy: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom("cut", "connect", "connect", "restartAgent" as const), at }) },
  { weight: 16, arbitrary: fc.record({ op: fc.constant("round" as const), at, skipped }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant("target" as const), root: fc.constantFrom("A", "B") }) },
  { weight: 1, arbitrary: fc.constant<Op>({ op: "restartServer" }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom("deleteSecret", "repairSecret", "repairSecret" as const), at }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("restoreSecret" as const), at, backup: fc.nat(3) }) },
);

function model() {
  let now = 1;
  let terms = 0;
  let target = "A";
  let serverStarted = 0;
  /** As the server keeps them: what it ordered of a mesh and has no answer to, with the number that the answer repeats. */
  const given = new Map<ModelMesh, readonly { readonly number: number; readonly roots: readonly string[]; readonly signer: string }[]>();
  let numbers = 0;
  const untouched = new Map<ModelMesh, readonly TrustGeneration[]>();
  const meshes = NAMES.map((name): ModelMesh => {
    const own = { roots: [`own of ${name}`], signer: `own of ${name}` };
    return {
      generations: [{ ...own, installedAt: 0, since: 0 }],
      own: { ...own, installedAt: 0, since: 0 },
      tampered: undefined,
      backups: [],
      controlPlane: own,
      proxies: [0, 1].map(() => ({ ...own, createdAt: 1 })),
      order: undefined,
      term: ++terms,
      sent: undefined,
      reported: undefined,
    };
  });
  /** Pairs that have trusted each other once: they must ever after. */
  const friends = new Set<string>();

  function last<T>(list: readonly T[]): T {
    const found = list.at(-1);
    if (found === undefined) throw new Error("empty");
    return found;
  }

  /** With what was ordered and not done yet: it may be done at any time. */
  function knownToAgent(mesh: ModelMesh): TrustMember["trust"] {
    if (!isHandedOut(mesh.generations, mesh.controlPlane.roots)) return undefined;
    const { roots, signer } = last(mesh.generations);
    const pods = mesh.proxies.map(({ createdAt }, i) => ({ namespace: "n", name: String(i), createdAt }));
    const pending = mesh.order === undefined ? [] : [generationOf(mesh.order)];
    const installed = { rootCertificates: textOf(roots), roots, signer };
    return { installed, inForce: trustInForce([...mesh.generations, ...pending], pods) };
  }

  const generationOf = ({ rootCertificates, signer }: TrustRequest) => ({ roots: rootsIn(rootCertificates), signer, installedAt: now });

  function step(op: Op): void {
    now += 1;
    if (op.op === "target") target = op.root;
    else if (op.op === "restartServer") {
      serverStarted = ++terms;
      given.clear();
      for (const mesh of meshes) Object.assign(mesh, { term: undefined, sent: undefined });
    } else if (op.op === "round") {
      const kept = ROUND.filter((_, i) => (op.skipped & (1 << i)) === 0);
      for (const one of kept) step({ ...one, at: op.at } as Op);
    } else act(op.op, meshes[op.at] as ModelMesh, op);
    checkFriends();
  }

  function act(op: string, mesh: ModelMesh, details: Op): void {
    if (op === "report" && mesh.term !== undefined) mesh.reported = { member: knownToAgent(mesh), order: mesh.order };
    if (op === "order" && mesh.term !== undefined) {
      const order = planFor(mesh);
      if (order !== undefined) {
        const number = ++numbers;
        const unanswered = (given.get(mesh) ?? []).filter((one) => one.number > (answered(mesh) ?? 0));
        given.set(mesh, [...unanswered, { number, roots: order.roots, signer: order.signer }]);
        mesh.sent = { ...order, term: mesh.term, number };
      }
    }
    if (op === "deliver" && mesh.sent !== undefined) mesh.order = mesh.sent;
    if (op === "install" && mesh.order !== undefined && knownToAgent(mesh) !== undefined) {
      const next = generationOf(mesh.order);
      const now = last(mesh.generations);
      if (textOf(now.roots) !== textOf(next.roots) || now.signer !== next.signer) {
        mesh.generations = [...mesh.generations, next];
      }
    }
    // A control plane that starts with what another hand has put there breaks its mesh, which nobody can prevent. What the agent writes is read.
    if (op === "readSecret" && mesh.generations !== mesh.tampered?.with) mesh.controlPlane = last(mesh.generations);
    if (op === "deleteSecret") tamper(mesh, [mesh.own]);
    if (op === "restoreSecret" && "backup" in details) tamper(mesh, mesh.backups.at(details.backup - 4) ?? mesh.generations);
    if (op === "repairSecret") repair(mesh);
    if (op === "takenUp") takenUp(mesh);
    if (op === "restartProxy" && "proxy" in details) mesh.proxies[details.proxy] = { ...mesh.controlPlane, createdAt: now };
    if (op === "cut") Object.assign(mesh, { term: undefined, sent: undefined });
    if (op === "connect") Object.assign(mesh, { term: ++terms, sent: undefined });
    if (op === "restartAgent") Object.assign(mesh, { order: undefined, term: undefined, sent: undefined });
  }

  function tamper(mesh: ModelMesh, content: readonly TrustGeneration[]): void {
    if (mesh.tampered !== undefined || content === mesh.generations) return;
    untouched.set(mesh, mesh.generations);
    mesh.generations = content;
    mesh.tampered = { with: content };
  }

  /** Puts the content back that was there before, where nothing else has been written since. */
  function repair(mesh: ModelMesh): void {
    const before = untouched.get(mesh);
    if (before !== undefined && mesh.generations === mesh.tampered?.with) mesh.generations = before;
    mesh.tampered = undefined;
  }

  function takenUp(mesh: ModelMesh): void {
    if (knownToAgent(mesh) === undefined) return;
    const newest = last(mesh.generations);
    if (newest.since !== undefined || mesh.controlPlane !== newest) return;
    const pods = mesh.proxies.map(({ createdAt }, i) => ({ namespace: "n", name: String(i), createdAt }));
    const since = { ...newest, since: now };
    mesh.controlPlane = since;
    mesh.generations = generationsInUse([...mesh.generations.slice(0, -1), since], pods);
    if (since.roots.length === 1) mesh.backups = [...mesh.backups, mesh.generations].slice(-4);
  }

  function planFor(mesh: ModelMesh): TrustRequest | undefined {
    const members = meshes.map((one, i): TrustMember => {
      const number = answered(one);
      const ordered = (given.get(one) ?? []).filter((order) => order.number > (number ?? 0));
      return { name: NAMES[i] ?? "", trust: one.reported?.member, isConnected: number !== undefined, ordered };
    });
    return trustPlan(members, { fingerprint: target, certificate: textOf([target]) }).get(NAMES[meshes.indexOf(mesh)] ?? "");
  }

  /** The order that its agent has answered last in this connection. */
  function answered({ term, reported }: ModelMesh): number | undefined {
    return term === undefined || term < serverStarted || reported?.order?.term !== term ? undefined : reported.order.number;
  }

  function checkFriends(): void {
    for (const one of meshes) {
      for (const other of meshes) {
        const pair = `${meshes.indexOf(one)} ${meshes.indexOf(other)}`;
        const trusts = one.proxies.every(({ roots }) => other.proxies.every(({ signer }) => roots.includes(signer)));
        if (trusts) friends.add(pair);
        else expect(friends.has(pair), `${pair} at ${now}`).toBe(false);
      }
    }
  }

  /** All is well long enough. */
  function settle(): void {
    for (let round = 0; round < 12; round++) {
      for (const [at] of meshes.entries()) {
        const mesh = meshes[at] as ModelMesh;
        if (mesh.tampered !== undefined) step({ op: "repairSecret", at });
        if (mesh.term === undefined) step({ op: "connect", at });
        for (const op of ["report", "order", "deliver", "report"] as const) step({ op, at });
      }
      for (const [at] of meshes.entries()) {
        for (const op of ["order", "deliver", "install", "readSecret", "takenUp"] as const) step({ op, at });
        for (const proxy of [0, 1]) step({ op: "restartProxy", at, proxy });
        step({ op: "report", at });
      }
    }
  }

  return { step, settle, meshes, target: () => target };
}

const textOf = (roots: readonly string[]) => roots.map((root) => `${root}\n`).join("");
const rootsIn = (text: string) => text.split("\n").filter((line) => line !== "");

describe("the plan of trust", () => {
  test("never has a proxy meet a certificate that it does not trust, and ends below one root", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(operation, { maxLength: 120 }), (isSettled, operations) => {
        const world = model();
        // All meshes trust each other, or none has a root of ours yet.
        if (isSettled) world.settle();
        if (isSettled) world.step({ op: "target", root: "B" });
        for (const operation of operations) world.step(operation);
        world.settle();
        for (const { proxies } of world.meshes) {
          const target = world.target();
          expect(proxies.map(({ roots, signer }) => [roots, signer])).toEqual([0, 1].map(() => [[target], target]));
        }
      }),
      { numRuns: runs(2_000) },
    );
  });

  test("orders nothing of a mesh whose Secret is deleted, and keeps the others as they are", () => {
    const world = model();
    world.settle();
    world.step({ op: "deleteSecret", at: 0 });
    for (let i = 0; i < 4; i++) for (const at of [0, 1]) world.step({ op: "round", at, skipped: 0 });
    expect(world.meshes[0]?.generations).toEqual([world.meshes[0]?.own]);
    expect(world.meshes[1]?.generations.at(-1)?.roots).toEqual(["A"]);
    world.settle();
    expect(world.meshes.map(({ generations }) => generations.at(-1)?.roots)).toEqual([["A"], ["A"]]);
  });

  test.each<readonly [string, readonly Op[]]>([
    [
      "and is then cut off",
      [
        { op: "deliver", at: 0 },
        { op: "cut", at: 0 },
      ],
    ],
    ["without having answered", [{ op: "deliver", at: 0 }]],
    ["that is still on its way", []],
    [
      "and has answered",
      [
        { op: "deliver", at: 0 },
        { op: "report", at: 0 },
      ],
    ],
  ])("takes no root from the others after a mesh was ordered to sign below it, %s", (_, operations) => {
    const world = model();
    const round = (at: number) => world.step({ op: "round", at, skipped: 0 });
    world.settle();
    world.step({ op: "target", root: "B" });
    for (const at of [0, 1]) round(at);
    world.step({ op: "report", at: 0 });
    world.step({ op: "order", at: 0 });
    expect(world.meshes[0]?.sent).toMatchObject({ step: "REISSUE", signer: "B" });
    for (const operation of operations) world.step(operation);
    world.step({ op: "target", root: "A" });
    for (let i = 0; i < 4; i++) round(1);
    // The oracle of the model looks at each step.
    for (const op of ["deliver", "install", "readSecret"] as const) world.step({ op, at: 0 });
    for (const proxy of [0, 1]) world.step({ op: "restartProxy", at: 0, proxy });
    expect(world.meshes[0]?.proxies[0]?.signer).toBe("B");
  });

  test("repeats an order as long as it is not answered", () => {
    const target = { fingerprint: "B", certificate: "B\n" };
    const installed = { rootCertificates: "A\nB\n", roots: ["A", "B"], signer: "A" };
    const trust = { installed, inForce: { trusted: ["A", "B"], signers: ["A"] } };
    const ordered = [{ roots: ["A", "B"], signer: "B" }];
    const members = NAMES.map((name): TrustMember => ({ name, trust, isConnected: true, ordered }));
    expect([...trustPlan(members, target).values()].map(({ step }) => step)).toEqual(["REISSUE", "REISSUE"]);
    const back = trustPlan(members, { fingerprint: "A", certificate: "A\n" });
    expect(back.get("east")).toMatchObject({ step: "REISSUE", signer: "A", waitsFor: NAMES });
    const retiring = members.map((one) => ({ ...one, ordered: [{ roots: ["A"], signer: "A" }] }));
    expect(trustPlan(retiring, target).get("east")).toMatchObject({ step: "TRUST_BOTH", waitsFor: NAMES });
  });

  test("keeps of pods that nobody waits for the oldest generation alone, and counts it for no other pod", () => {
    const first = { roots: ["A"], signer: "A", installedAt: 1, since: 2 };
    const both = { roots: ["A", "B"], signer: "A", installedAt: 5, since: 6 };
    const last = { roots: ["B"], signer: "B", installedAt: 9, since: 10 };
    const young = [{ namespace: "n", name: "q", createdAt: 20 }];
    const left = [{ namespace: "n", name: "p", createdAt: 2 }];
    expect(generationsInUse([first, both, last], young, left)).toEqual([first, last]);
    expect(trustInForce([first, last], young)).toEqual({ trusted: ["B"], signers: ["B"] });
    expect(podsToRestart([first, last], left)).toEqual(left);
    // Others that are as old count as ever, and one that has restarted has no earlier one.
    expect(generationsInUse([first, both, last], left, left)).toEqual([first, both, last]);
    expect(generationsInUse([first, last], young, young)).toEqual([last]);
  });

  test("keeps one generation however often a CA is renewed below the same root", () => {
    const first = { roots: ["A"], signer: "A", installedAt: 1, since: 2 };
    const renewed = { roots: ["A"], signer: "A", installedAt: 3 };
    expect(generationsInUse([first, renewed], [])).toEqual([first, renewed]);
    expect(generationsInUse([first, { ...renewed, since: 4 }], [{ namespace: "n", name: "p", createdAt: 2 }])).toEqual([first]);
    const again = { roots: ["A"], signer: "A", installedAt: 5, since: 6 };
    expect(generationsInUse([first, renewed, again], [{ namespace: "n", name: "p", createdAt: 2 }])).toEqual([first]);
    const other = { roots: ["A", "B"], signer: "A", installedAt: 3, since: 4 };
    expect(generationsInUse([first, other], [{ namespace: "n", name: "p", createdAt: 2 }])).toEqual([first, other]);
    const unread = { roots: ["A", "B"], signer: "A", installedAt: 3 };
    const back = [first, unread, again];
    expect(generationsInUse(back, [{ namespace: "n", name: "p", createdAt: 2 }])).toEqual(back);
  });

  test("adds the new root behind the old ones, and keeps the text until nothing of the old ones is in use", () => {
    const target = { fingerprint: "B", certificate: "B\n" };
    const installed = { rootCertificates: "A", roots: ["A"], signer: "A" };
    const member = (trust: TrustMember["trust"], isConnected = true): TrustMember => ({ name: "east", trust, isConnected });
    const orderFor = (...members: TrustMember[]) => trustPlan(members, target).get("east");
    const before = { trusted: ["A"], signers: ["A"] };
    expect(orderFor(member({ installed, inForce: before }))).toMatchObject({ step: "TRUST_BOTH", rootCertificates: "A\nB\n", signer: "A" });
    const both = { ...installed, rootCertificates: "A\nB\n", roots: ["A", "B"] };
    expect(orderFor(member({ installed: both, inForce: before }))).toMatchObject({ step: "TRUST_BOTH", waitsFor: ["east"] });
    const trusting = { trusted: ["A", "B"], signers: ["A"] };
    expect(orderFor(member({ installed: both, inForce: trusting }))).toMatchObject({
      step: "REISSUE",
      rootCertificates: "A\nB\n",
      signer: "B",
    });
    expect(orderFor(member({ installed: both, inForce: trusting }, false))).toMatchObject({ step: "TRUST_BOTH", signer: "A" });
    const other: TrustMember = { name: "west", trust: undefined, isConnected: true };
    expect(orderFor(member({ installed: both, inForce: trusting }), other)).toMatchObject({ step: "TRUST_BOTH", waitsFor: ["west"] });
    const reissued = { ...both, signer: "B" };
    expect(orderFor(member({ installed: reissued, inForce: { trusted: ["A", "B"], signers: ["A", "B"] } }))?.step).toBe("REISSUE");
    const issued = { trusted: ["A", "B"], signers: ["B"] };
    expect(orderFor(member({ installed: reissued, inForce: issued }), other)).toMatchObject({ step: "REISSUE", waitsFor: ["west"] });
    expect(orderFor(member({ installed: reissued, inForce: issued }))).toMatchObject({ step: "RETIRE", rootCertificates: "B\n" });
  });
});
