/* What whatsapp resources may hold, texts in characters, from operators and from the platform alike. */

/** The platform's own limit. */
export const TEMPLATE_NAME_CHARACTERS_MAX = 512;
export const RESOURCE_TEXT_CHARACTERS_MAX = 500;
export const COMPONENT_TEXT_CHARACTERS_MAX = 5_000;
export const COMPONENT_URL_CHARACTERS_MAX = 2_000;
/** The parts of one template, more than the platform has kinds of them, and the buttons of one part, of which it takes ten. */
export const TEMPLATE_COMPONENTS_MAX = 20;
export const COMPONENT_BUTTONS_MAX = 20;
