"""What a person or an App can do. Every route, page and Person method comes through here."""
