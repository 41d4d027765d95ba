declare module "*.css";

/** The address of a file that is served beside the page. */
declare module "*.min.js" {
  const url: string;
  export default url;
}
