/** Signing, on the approver's side. */
import { type KeyObject, sign } from 'node:crypto';
import type { Decision } from '../protocol/approval.ts';
import type { Halt, Resume } from '../protocol/control.ts';
import type { Grant } from '../protocol/grant.ts';
import { decisionPayload, grantPayload, resumePayload } from './payload.ts';

/** Who signs. The key may lie anywhere: `sign` gets the bytes and returns Ed25519's 64. */
export interface Signer {
  /** As the service's configuration names the approver. */
  name: string;
  sign(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** A signer with its key in this process. */
export const signerOf = (name: string, key: KeyObject): Signer => ({ name, sign: (bytes) => sign(null, bytes, key) });

/**
 * The decision, signed in the name of the signer and at this time. The digest in it must have been computed by the caller
 * from what the approver has seen, never taken over.
 */
export async function signDecision(decision: Decision, signer: Signer, now = Date.now()): Promise<Decision> {
  const signed: Decision = { ...decision, approver: signer.name, at: now };
  return { ...signed, signature: await signatureOf(decisionPayload(signed), signer) };
}

/** The grant, in the name of the signer and signed. */
export async function signGrant(grant: Grant, signer: Signer): Promise<Grant> {
  const { signature: _, ...rest } = grant;
  const named = { ...rest, by: signer.name };
  return { ...named, signature: await signatureOf(grantPayload(named), signer) };
}

/** The end of exactly this halt in this namespace, in the name of the signer and signed. */
export async function signResume(
  { halt, namespace, reason }: { halt: Halt; namespace: string; reason: string },
  signer: Signer,
  now = Date.now(),
): Promise<Resume> {
  const resume: Resume = { by: signer.name, reason, halt: halt.id, at: now };
  return { ...resume, signature: await signatureOf(resumePayload(resume, halt, namespace), signer) };
}

/** Base64url without padding. */
const signatureOf = async (bytes: Uint8Array, signer: Signer): Promise<string> =>
  Buffer.from(await signer.sign(bytes)).toString('base64url');
