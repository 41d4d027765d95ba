import { describe, expect, test } from "vitest";
import { authorityStep } from "../src/index.ts";

const DAY_MS = 86_400_000;
const current = {
  facts: {
    rootCertificates: "old\n",
    roots: ["old"],
    signer: "old",
    notBefore: 0,
    notAfter: 100 * DAY_MS,
    rootNotAfter: 1000 * DAY_MS,
    certificate: "",
  },
  issuedWith: "options",
};
const inputs: Parameters<typeof authorityStep>[0] = {
  order: { step: "KEEP", rootCertificates: "old\n", signer: "old" },
  current,
  options: "options",
  gracePeriodRatio: 0.1,
  isAnswered: false,
  now: DAY_MS,
};

describe("an agent's next step", () => {
  test("is none as long as all is as it was ordered", () => {
    expect(authorityStep(inputs)).toBe("keep");
  });

  test.each([
    [0.1, 90],
    [0.25, 75],
    [0.9, 10],
    // Out of range: the nearest that means something, and never at once, as that would be without end.
    [0.99, 10],
    [1, 10],
    [7, 10],
    [-1, 100],
  ])("with a ratio of %d is a new request on day %d of 100, and not before", (gracePeriodRatio, day) => {
    const at = day * DAY_MS;
    expect(authorityStep({ ...inputs, gracePeriodRatio, now: at })).toBe("request");
    expect(authorityStep({ ...inputs, gracePeriodRatio, now: at - 1 })).toBe("keep");
  });

  test("is a request when the options have changed, and the answer is installed when it is there", () => {
    expect(authorityStep({ ...inputs, options: "others" })).toBe("request");
    expect(authorityStep({ ...inputs, options: "others", isAnswered: true })).toBe("installRequested");
  });

  test("leaves a CA of somebody else as it is, whatever the options and its age", () => {
    const theirs = { ...current, issuedWith: undefined };
    expect(authorityStep({ ...inputs, current: theirs, options: "others", now: 99 * DAY_MS })).toBe("keep");
  });

  test("installs the roots of both at once, whatever else is asked for: nothing is signed below the old root any more", () => {
    const order = { step: "TRUST_BOTH", rootCertificates: "old\nnew\n", signer: "old" } as const;
    expect(authorityStep({ ...inputs, order, options: "others", now: 99 * DAY_MS })).toBe("installCurrent");
    const both = { ...current, facts: { ...current.facts, rootCertificates: "old\nnew\n", roots: ["old", "new"] } };
    expect(authorityStep({ ...inputs, order, current: both, options: "others" })).toBe("keep");
  });

  test("is a request below the new root when that is ordered, with the same roots", () => {
    const both = { ...current, facts: { ...current.facts, rootCertificates: "old\nnew\n", roots: ["old", "new"] } };
    const order = { step: "REISSUE", rootCertificates: "old\nnew\n", signer: "new" } as const;
    expect(authorityStep({ ...inputs, order, current: both })).toBe("request");
    expect(authorityStep({ ...inputs, order, current: both, isAnswered: true })).toBe("installRequested");
  });

  test("renews a CA below the old root while others are waited for, once the new roots are there and somebody can still sign", () => {
    const order = { step: "TRUST_BOTH", rootCertificates: "old\nnew\n", signer: "old", isRenewable: true } as const;
    expect(authorityStep({ ...inputs, order, now: 99 * DAY_MS })).toBe("installCurrent");
    const both = { ...current, facts: { ...current.facts, rootCertificates: "old\nnew\n", roots: ["old", "new"] } };
    const waiting = { ...inputs, order, current: both };
    expect(authorityStep({ ...waiting, now: 89 * DAY_MS, options: "others" })).toBe("keep");
    expect(authorityStep({ ...waiting, now: 90 * DAY_MS })).toBe("request");
    expect(authorityStep({ ...waiting, now: 90 * DAY_MS, isAnswered: true })).toBe("installRequested");
    expect(authorityStep({ ...waiting, now: 90 * DAY_MS, order: { ...order, isRenewable: false } })).toBe("keep");
  });

  test("is no renewal of a CA that ends with its root", () => {
    const last = { ...current, facts: { ...current.facts, rootNotAfter: current.facts.notAfter } };
    expect(authorityStep({ ...inputs, current: last, now: 99 * DAY_MS })).toBe("keep");
  });
});
