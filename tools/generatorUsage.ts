const HELP = ["--help", "-h"];
const CHECK = " [-- --check]\n  --check  write nothing; exit code 1 if what is there is not up to date";

/** Prints how a script of package.json that generates files is used, where that is asked for; else it would write them. */
export function printsUsage(script: string, options = CHECK): boolean {
  const hasUserStatus = process.argv.slice(2).some((arg) => HELP.includes(arg));
  if (hasUserStatus) console.log(`usage: npm run ${script}${options}`);
  return hasUserStatus;
}
