/* What whatsapp resources may hold, in characters, from operators and from the platform alike. */

/** The platform's own limit. */
export const TEMPLATE_NAME_CHARACTERS_MAX = 512;
export const RESOURCE_TEXT_CHARACTERS_MAX = 500;
export const COMPONENT_TEXT_CHARACTERS_MAX = 5_000;
export const COMPONENT_URL_CHARACTERS_MAX = 2_000;
