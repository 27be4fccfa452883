import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';

/** The whatsapp numbers and templates of all projects, at most `WHATSAPP_DIRECTORY_FRESH_MS` old. */
export interface WhatsappDirectory {
  /** The resource trees by project; the map lacks a project without one. */
  resourcesOf(projectIds: readonly string[]): Promise<ReadonlyMap<string, readonly WhatsappBusiness[]>>;
  /** Our 24-hex ids of numbers by the ids that the platform gave them; the map lacks numbers of no project. */
  phoneIdsOf(platformIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** A change of the resources takes effect within this time, in milliseconds. */
export const WHATSAPP_DIRECTORY_FRESH_MS = 2_000;
