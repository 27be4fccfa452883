/** The longest URL that common servers and clients accept. */
export const WEBHOOK_URL_CHARACTERS_MAX = 2_048;
export const WEBHOOK_SECRET_CHARACTERS_MAX = 200;
export const WEBHOOK_SECRET_PATTERN = /^[\w!#$%&'*+\-.^_`|~]+$/;
