import { createColors } from "picocolors";

const { env, stdout } = process;

/** Colours on a terminal; plain text elsewhere, with NO_COLOR (no-color.org), and for TERM=dumb. */
export const colors = createColors(stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb");
