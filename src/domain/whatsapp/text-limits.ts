/** What whatsapp resources may hold, in characters, from operators and from the platform alike. */
export const RESOURCE_TEXT_CHARACTERS_MAX = 500;
export const COMPONENT_TEXT_CHARACTERS_MAX = 5_000;
export const COMPONENT_URL_CHARACTERS_MAX = 2_000;
