import { millisecondsInSecond } from 'date-fns/constants';
import { SETTINGS_FRESH_MS } from '../../../../../application/read-through-cache.ts';

/** When every process knows of a change. */
export const FRESH = `within ${SETTINGS_FRESH_MS / millisecondsInSecond} seconds`;
