/** What the command line says as its User-Agent. */
export const CLI_AGENT = 'barid-cli';
