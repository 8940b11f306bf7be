package fact

// Refusal is a question that is not answered. Its sentence may be shown to anybody: it is written here, never by a source.
type Refusal struct {
	Sentence string
	// Unavailable says that nobody could have answered: nothing is configured, or the source does not work.
	Unavailable bool
	// Cause is for the log of the operator and is shown to nobody else. It may be nil.
	Cause error
}

// Error returns the sentence, after the word UNAVAILABLE where nobody could have answered.
func (r *Refusal) Error() string {
	if r.Unavailable {
		return "UNAVAILABLE: " + r.Sentence
	}
	return r.Sentence
}

// Unwrap returns the private cause.
func (r *Refusal) Unwrap() error { return r.Cause }

// Refuse says what is wrong with a question.
func Refuse(sentence string) error { return &Refusal{Sentence: sentence} }

// Unavailable says that a source cannot be asked.
func Unavailable(sentence string, cause error) error {
	return &Refusal{Sentence: sentence, Unavailable: true, Cause: cause}
}
