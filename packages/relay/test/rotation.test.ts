import { X509Certificate } from "node:crypto";
import { certificateFacts } from "@isthmus/certificates";
import { describe, expect, test } from "vitest";
import { type MadeIdentity, makeIdentity, rotateIdentity } from "../src/index.ts";
import { rootsDigest } from "../src/registration/roots.ts";

const NOW = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const lifetimes = { root: 1_000 * HOUR, signing: 500 * HOUR, server: 100 * HOUR, agent: 24 * HOUR };
const names = ["gloo-mesh-mgmt-server.gloo-mesh"];

/** The identity at each moment, when agents do as `trusts` says. */
async function after(hours: number, identity: MadeIdentity, isTrustedByAll: (digest: string) => boolean): Promise<MadeIdentity> {
  return rotateIdentity(identity, { names, now: NOW + hours * HOUR, lifetimes, isTrustedByAll });
}

const rootCount = ({ root }: MadeIdentity) => root.match(/BEGIN CERTIFICATE/g)?.length;
const isBy = (certificate: string, root: string) => new X509Certificate(certificate).verify(new X509Certificate(root).publicKey);
const yes = () => true;
const no = () => false;

describe("an identity that we made", () => {
  test("stays the very same while nothing is due", async () => {
    const made = await makeIdentity({ names, now: NOW, lifetimes });
    expect(await after(1, made, yes)).toBe(made);
    expect(await after(60, made, no)).toBe(made);
  });

  test("renews the server's certificate and the signing one, each after two thirds of its life, under the same root", async () => {
    const made = await makeIdentity({ names, now: NOW, lifetimes });
    const later = await after(70, made, no);
    expect(later.server).not.toEqual(made.server);
    expect([later.signing, later.roots, later.root]).toEqual([made.signing, made.roots, made.root]);
    expect(certificateFacts(later.server.certificate).dnsNames).toEqual(names);
    const muchLater = await after(340, later, no);
    expect(muchLater.signing).not.toEqual(made.signing);
    expect(muchLater.root).toBe(made.root);
    expect([muchLater.signing, muchLater.server].every(({ certificate }) => isBy(certificate, made.root))).toBe(true);
  });

  test("changes its root with overlap: both trusted, then reissued, then the old one retired", async () => {
    const made = await makeIdentity({ names, now: NOW, lifetimes });
    const announced = await after(670, made, no);
    expect(rootCount(announced)).toBe(2);
    expect(announced.server).toEqual(made.server);
    // Not before every agent trusts both.
    const waiting = await after(671, await after(671, announced, no), no);
    expect(waiting.roots.current).toEqual(made.roots.current);
    const both = await rootsDigest(waiting.root);
    const reissued = await after(672, waiting, (digest) => digest === both);
    expect(rootCount(reissued)).toBe(2);
    expect(reissued.roots.current).toEqual(announced.roots.next);
    const newRoot = reissued.roots.current.certificate;
    expect([reissued.server, reissued.signing].every(({ certificate }) => isBy(certificate, newRoot))).toBe(true);
    // Not before the certificates that the old one stands for have expired, and every agent has been seen.
    expect((await after(680, reissued, yes)).roots).toEqual(reissued.roots);
    expect((await after(700, reissued, no)).roots).toEqual(reissued.roots);
    const retired = await after(700, reissued, yes);
    expect(retired.root).toBe(newRoot);
    expect(rootCount(retired)).toBe(1);
  });

  test("does not wait for ever for an agent that never calls", async () => {
    const made = await makeIdentity({ names, now: NOW, lifetimes });
    const announced = await after(670, made, no);
    const forced = await after(834, announced, no);
    expect(forced.roots.current).toEqual(announced.roots.next);
    expect(rootCount(await after(1_001, forced, no))).toBe(1);
  });

  test("names a set of roots the same in any order", async () => {
    const [one, two] = [await makeIdentity({ names, now: NOW }), await makeIdentity({ names, now: NOW })];
    expect(await rootsDigest(one.root + two.root)).toBe(await rootsDigest(two.root + one.root + one.root));
    expect(await rootsDigest(one.root)).not.toBe(await rootsDigest(two.root));
  });
});
