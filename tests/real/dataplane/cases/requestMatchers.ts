import type { TrafficPolicySpec } from "@isthmus/api";
import { beforeAll, describe, expect, it } from "vitest";
import type { Meshes } from "../harness/meshes.ts";
import { service, trafficPolicy } from "../harness/resources.ts";
import type { RequestOptions } from "../harness/testbed.ts";

type Matcher = NonNullable<TrafficPolicySpec["httpRequestMatchers"]>[number];
type Asked = Pick<RequestOptions, "path" | "method" | "headers">;

interface MatcherCase {
  readonly title: string;
  readonly matchers: readonly Matcher[];
  readonly matching: readonly Asked[];
  readonly others: readonly Asked[];
}

// All of them are in force together: each has paths of its own.
const cases: readonly MatcherCase[] = [
  {
    title: "an exact path",
    matchers: [{ uri: { exact: "/exact" } }],
    matching: [{ path: "/exact" }, { path: "/exact?a=b" }],
    others: [{ path: "/exact/" }, { path: "/Exact" }],
  },
  {
    title: "a path prefix",
    matchers: [{ uri: { prefix: "/pre" } }],
    matching: [{ path: "/pre" }, { path: "/prefix/x" }],
    others: [{ path: "/x/pre" }, { path: "/PRE" }],
  },
  {
    title: "a regular expression of the whole path",
    matchers: [{ uri: { regex: "/r[0-9]+" } }],
    matching: [{ path: "/r1" }, { path: "/r123" }],
    others: [{ path: "/r" }, { path: "/r1/x" }, { path: "/x/r1" }],
  },
  {
    title: "a path suffix, taken literally",
    matchers: [{ uri: { suffix: ".tail+" } }],
    matching: [{ path: "/a.tail+" }, { path: "/a/b.tail+" }, { path: "/a.tail+?q=1" }],
    others: [{ path: "/a.tail+/x" }, { path: "/axtail+" }, { path: "/a.taill" }],
  },
  {
    title: "an exact path in capital or small letters",
    matchers: [{ uri: { exact: "/Any-Exact", ignoreCase: true } }],
    matching: [{ path: "/any-exact" }, { path: "/ANY-EXACT" }],
    others: [{ path: "/any-exac" }],
  },
  {
    title: "a path prefix in capital or small letters",
    matchers: [{ uri: { prefix: "/Any-Start", ignoreCase: true } }],
    matching: [{ path: "/any-start/x" }, { path: "/ANY-START" }],
    others: [{ path: "/x/any-start" }],
  },
  {
    title: "a path suffix in capital or small letters",
    matchers: [{ uri: { suffix: "-End", ignoreCase: true } }],
    matching: [{ path: "/x-end" }, { path: "/X-END" }],
    others: [{ path: "/x-endless" }],
  },
  {
    title: "the exact value of a header",
    matchers: [{ uri: { prefix: "/header-exact" }, headers: [{ name: "X-Colour", value: "red" }] }],
    matching: [{ path: "/header-exact", headers: { "x-colour": "red" } }],
    others: [{ path: "/header-exact" }, { path: "/header-exact", headers: { "x-colour": "redder" } }],
  },
  {
    title: "a regular expression of a header",
    matchers: [{ uri: { prefix: "/header-regex" }, headers: [{ name: "x-colour", value: "re+d", regex: true }] }],
    matching: [{ path: "/header-regex", headers: { "x-colour": "reeed" } }],
    others: [{ path: "/header-regex", headers: { "x-colour": "reeeds" } }, { path: "/header-regex" }],
  },
  {
    title: "the presence of a header",
    matchers: [{ uri: { prefix: "/header-there" }, headers: [{ name: "x-colour" }] }],
    matching: [{ path: "/header-there", headers: { "x-colour": "blue" } }],
    others: [{ path: "/header-there" }],
  },
  {
    title: "a header that has not a value",
    matchers: [{ uri: { prefix: "/header-not" }, headers: [{ name: "x-colour", value: "red", invertMatch: true }] }],
    matching: [{ path: "/header-not", headers: { "x-colour": "blue" } }, { path: "/header-not" }],
    others: [{ path: "/header-not", headers: { "x-colour": "red" } }],
  },
  {
    title: "the absence of a header",
    matchers: [{ uri: { prefix: "/header-absent" }, headers: [{ name: "x-colour", invertMatch: true }] }],
    matching: [{ path: "/header-absent" }],
    others: [{ path: "/header-absent", headers: { "x-colour": "red" } }],
  },
  {
    title: "several headers at once",
    matchers: [
      {
        uri: { prefix: "/headers" },
        headers: [
          { name: "x-colour", value: "red" },
          { name: "x-size", value: "l|m", regex: true },
        ],
      },
    ],
    matching: [{ path: "/headers", headers: { "x-colour": "red", "x-size": "m" } }],
    others: [
      { path: "/headers", headers: { "x-colour": "red" } },
      { path: "/headers", headers: { "x-size": "l" } },
    ],
  },
  {
    title: "the exact value of a query parameter",
    matchers: [{ uri: { prefix: "/query-exact" }, queryParameters: [{ name: "user", value: "ann" }] }],
    matching: [{ path: "/query-exact?user=ann" }, { path: "/query-exact?x=1&user=ann" }],
    others: [{ path: "/query-exact?user=anna" }, { path: "/query-exact" }],
  },
  {
    title: "a regular expression of a query parameter",
    matchers: [{ uri: { prefix: "/query-regex" }, queryParameters: [{ name: "user", value: "a.*", regex: true }] }],
    matching: [{ path: "/query-regex?user=ann" }],
    others: [{ path: "/query-regex?user=bob" }],
  },
  {
    title: "the presence of a query parameter",
    matchers: [{ uri: { prefix: "/query-there" }, queryParameters: [{ name: "user" }] }],
    matching: [{ path: "/query-there?user=ann" }, { path: "/query-there?user=" }],
    others: [{ path: "/query-there?other=ann" }],
  },
  {
    title: "a method",
    matchers: [{ uri: { prefix: "/method" }, method: "POST" }],
    matching: [{ path: "/method", method: "POST" }],
    others: [{ path: "/method" }, { path: "/method", method: "PUT" }],
  },
  {
    title: "any of several matchers",
    matchers: [{ uri: { exact: "/several" } }, { uri: { prefix: "/sev-x" }, method: "DELETE" }],
    matching: [{ path: "/several" }, { path: "/sev-x", method: "DELETE" }],
    others: [{ path: "/sev-x" }],
  },
];

// Each case answers with a status of its own.
const statusOf = (index: number) => 430 + index;

// The same rules stand in the cluster of the service and in that of a remote client.
const paths = [
  { from: "cluster-1", host: "reviews.bookinfo.svc.cluster-2.global" },
  { from: "cluster-2", host: "reviews.bookinfo.svc.cluster.local" },
] as const;

export function requestMatcherCases(meshes: () => Meshes): void {
  describe("request matchers select", () => {
    /** Statuses of all requests of each case, path after path. */
    let statuses: readonly (readonly number[])[] = [];

    beforeAll(async () => {
      const toReviews = { destinationSelector: [service("reviews", "cluster-2")] };
      const policies = cases.map(({ matchers }, index) =>
        trafficPolicy(
          { faultInjection: { abort: { httpStatus: statusOf(index) } } },
          { ...toReviews, httpRequestMatchers: [...matchers] },
          { name: `case-${index}` },
        ),
      );
      const rest = trafficPolicy({ requestTimeout: "20s" }, toReviews, { name: "rest" });
      await meshes().apply({ policies: [...policies, rest] });
      const asked = cases.flatMap(({ matching, others }) => [...matching, ...others]);
      const seen = await Promise.all(
        paths.map(async ({ from, host }) => {
          await meshes().settle({ from, host });
          return [
            ...(await meshes().statuses(
              `${from}/productpage-v1`,
              asked.map((request) => ({ host, ...request })),
            )),
          ];
        }),
      );
      statuses = cases.map(({ matching, others }) => seen.flatMap((perPath) => perPath.splice(0, matching.length + others.length)));
    });

    it.each(cases.map((each, index) => ({ ...each, index })))("$title", ({ matching, others, index }) => {
      const asked = paths.flatMap(({ host }) => [...matching, ...others].map((request) => ({ host, ...request })));
      const expected = paths.flatMap(() => [...matching.map(() => statusOf(index)), ...others.map(() => 200)]);
      expect(asked.map((request, i) => ({ ...request, status: statuses[index]?.[i] }))).toEqual(
        asked.map((request, i) => ({ ...request, status: expected[i] })),
      );
    });
  });
}
