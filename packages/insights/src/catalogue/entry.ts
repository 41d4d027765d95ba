import type { InsightCode, InsightSeverity } from "../insight.ts";

/** What a code means, for those who see it. */
export interface CatalogueEntry {
  /** By where it is found: `rule` is one of `RULES`; `status` is of translation, for a resource that is in force. One that is not is an error. */
  readonly severity: { readonly rule?: InsightSeverity; readonly status?: InsightSeverity };
  /** A few words, without a full stop. */
  readonly title: string;
  /** One sentence: what is wrong. */
  readonly meaning: string;
  /** What follows from it. */
  readonly consequence: string;
  /** What to do, in general: an insight names the objects. Without a full stop. */
  readonly remedy: string;
  /** Object, field and message of one, as its pair of fixtures has it. */
  readonly example: string;
}

/** Entries by code. */
export type CatalogueEntries = Readonly<Partial<Record<InsightCode, CatalogueEntry>>>;
