import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

/** What of a page's state is in its address. */
export interface PageSearch {
  /** Filter tokens and words. */
  readonly q?: string;
  /** Column, with `-` before it for the largest first. */
  readonly sort?: string;
  readonly tab?: string;
  readonly view?: string;
  /** Text of policies, of the page that asks what they would do. */
  readonly policy?: string;
  /** Of a request: who calls, as `cluster/namespace/serviceAccount`, and what, as `cluster/namespace/service`. */
  readonly from?: string;
  readonly to?: string;
  readonly port?: string;
  readonly method?: string;
  readonly path?: string;
  /** Path of the object that a page is about beside its own. */
  readonly of?: string;
  /** The earlier time that is shown, in ISO 8601; on every page, until it is taken away. */
  readonly at?: string | undefined;
  /** The clusters to which lists keep, with commas between them; on every page, until they are taken away. */
  readonly scope?: string | undefined;
  /** The policy, of those that are rejected on a Destination, that is compared with what is in force. */
  readonly compare?: string;
  /** Minutes that rates are of. */
  readonly minutes?: string;
  /** Path of the object that is shown beside the table. */
  readonly open?: string;
  /** The time with which a comparison ends, in ISO 8601; now where there is none. */
  readonly until?: string;
  /** How far back a comparison goes. */
  readonly since?: string;
  /** What insights are listed by, where that is not their code. */
  readonly group?: string;
  /** `split`: what changed of an object is shown side by side. */
  readonly diff?: string;
  /** The field of an object whose lines are highlighted in its YAML. */
  readonly field?: string;
  /** Columns of the table that are not shown, with commas between them. */
  readonly hide?: string;
  /** Of the graph: what its boxes stand for, and which of its parts are shown. */
  readonly box?: string;
  readonly show?: string;
  /** Filters of what is marked in the graph, and of what is left out of it. */
  readonly find?: string;
  readonly without?: string;
}

const MEMBERS = [
  "q",
  "sort",
  "tab",
  "view",
  "policy",
  "of",
  "open",
  "hide",
  "since",
  "until",
  "from",
  "to",
  "port",
  "method",
  "path",
  "at",
  "scope",
  "compare",
  "minutes",
  "group",
  "box",
  "show",
  "find",
  "without",
  "diff",
  "field",
] as const;
const LONGEST = 2_000;
const LONGEST_POLICY = 16_000;

/** Reads the members that pages know from an address; others are left out. */
export function readPageSearch(search: Readonly<Record<string, unknown>>): PageSearch {
  return Object.fromEntries(
    MEMBERS.flatMap((member) => {
      const value = search[member];
      return typeof value === "string" && value !== "" ? [[member, value.slice(0, member === "policy" ? LONGEST_POLICY : LONGEST)]] : [];
    }),
  );
}

/** The state of the page in its address, and a function that changes some of it without another entry of the history. */
export function usePageSearch(): readonly [PageSearch, (change: { readonly [K in keyof PageSearch]?: string | undefined }) => void] {
  const search: PageSearch = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = useCallback(
    (change: { readonly [K in keyof PageSearch]?: string | undefined }) => {
      void navigate({
        to: ".",
        search: (before: PageSearch) => {
          const after = readPageSearch({ ...before, ...change });
          // What is not said stays, as on a link to another page.
          return { ...after, at: after.at, scope: after.scope };
        },
        replace: true,
        resetScroll: false,
      });
    },
    [navigate],
  );
  return [search, change];
}
