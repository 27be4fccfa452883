/** Expired rows that are removed for each row that is added: more than one, so that the table cannot grow for ever. */
export const SWEPT_PER_ADDED = 2;
