import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** The folder that everything is in: this program is run as a bundle below node_modules. */
export const REPOSITORY = here.includes("node_modules") ? here.slice(0, here.indexOf("node_modules")) : join(here, "../..");

/** For what is built on the way: below node_modules, so that imports of npm packages resolve from there. */
export const CACHE = join(REPOSITORY, "node_modules/.cache/isthmus");
