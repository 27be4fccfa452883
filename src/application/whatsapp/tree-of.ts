import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import type { Stores } from '../ports/stores.ts';

/** The resource tree of the project; empty when it has none. */
export async function treeOf(
  { whatsapp }: Pick<Stores, 'whatsapp'>,
  projectId: string,
): Promise<readonly WhatsappBusiness[]> {
  return (await whatsapp.byProjectIds([projectId])).get(projectId) ?? [];
}

/** The same; nobody replaces it until the transaction ends. */
export async function lockedTreeOf(
  { whatsapp }: Pick<Stores, 'whatsapp'>,
  projectId: string,
): Promise<readonly WhatsappBusiness[]> {
  return (await whatsapp.lock([projectId])).get(projectId) ?? [];
}
