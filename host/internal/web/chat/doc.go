// Package chat speaks the strict chat stream: metadata, any number of statuses, one content or one failure, done. It
// promises that no other order can leave, that nothing leaves but the types of wire.go, and that a client that goes
// before the end takes exactly its own run with it.
//
// How a question is answered, and what may leave as its answer, is decided elsewhere: this face asks for a run with a
// profile, follows its events and tells what they mean in a few fixed words.
package chat
