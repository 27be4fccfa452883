import { DEFAULT_SETTINGS, type ProjectSettings } from '../../../domain/access/project.ts';

/** Reads the column `settings` of a project. A row of an older version may lack the newest ones: they have their defaults. */
export function readSettings(column: string): ProjectSettings {
  return { ...DEFAULT_SETTINGS, ...(JSON.parse(column) as Partial<ProjectSettings>) };
}
