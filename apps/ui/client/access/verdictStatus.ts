import type { Status, Tone } from "../model/status.ts";
import { t } from "../strings.ts";
import type { CellVerdict } from "./accessMatrix.ts";

const TONES: Readonly<Record<CellVerdict, Tone>> = {
  ALLOWED: "good",
  RESTRICTED: "warning",
  DENIED: "bad",
  UNREACHABLE: "unknown",
  UNKNOWN: "unknown",
  MIXED: "progress",
};

/** A verdict as status, in full or as short as a cell. */
export function verdictStatus(verdict: CellVerdict, isShort = false): Status {
  return { tone: TONES[verdict], word: isShort ? t.access.short[verdict] : t.access.verdicts[verdict] };
}
