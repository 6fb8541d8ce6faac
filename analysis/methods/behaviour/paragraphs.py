"""The text on which behaviour is measured, written for this project: plain English on different things."""

PARAGRAPHS = (
    "The ferry left the harbour a little after six, while the lamps on the quay were still burning. On deck a "
    "boy counted gulls and lost his place each time one of them dived. His mother read a newspaper from the "
    "day before, folding it smaller and smaller against the wind, and nobody spoke until the island came out "
    "of the fog like something that had been waiting there all along for them to notice it.",
    "To make the bread, mix flour, water, salt and a spoonful of yeast in a large bowl, cover it, and leave it "
    "overnight. In the morning the dough will have doubled and be full of bubbles. Turn it out on a floured "
    "board, fold it four times, and let it rest while the oven gets hot. Bake it in a heavy pot with the lid "
    "on for half an hour, then without the lid until the crust is dark.",
    "A river does not run straight for long. Where the bank is soft the water takes a little of it away, and "
    "drops what it took where the current is slower, on the inside of the bend. So the bend grows, year after "
    "year, until the river meets itself and cuts through the narrow neck of land. What is left behind is a "
    "lake shaped like a horseshoe, which slowly fills with reeds and mud.",
    "Dear Ms. Okafor, thank you for your letter of 4 March about the leaking roof. Our engineer visited the "
    "building on Tuesday and found that two tiles had slipped and that the gutter behind the chimney was "
    "blocked. The repair will take one day and will cost you nothing. Please let us know whether Thursday or "
    "Friday of next week suits you better, and keep the loft clear until the work has been done.",
    "In chess the pawn is the weakest piece, and yet good players plan whole games around it. A pawn can only "
    "move forward, so every step is a decision that cannot be taken back. Two pawns side by side protect the "
    "squares in front of them; a pawn alone has to be protected by something worth more. And if it reaches the "
    "last row, it becomes whatever its owner needs most, nearly always a queen.",
    "The old programme kept its list of customers in a text file, one line for each. That worked well until "
    "there were forty thousand of them. Then every search took seconds, and two clerks who saved at the same "
    "moment could lose each other's changes. The new one writes to a database. It is not much faster for one "
    "person, but it stays the same when the whole office works at once, and nothing is lost.",
    '"You cannot be serious," said Martha, and put the letter back on the table. "I am afraid I am," answered '
    'her brother. "The house goes to whoever stays in it for a year." They looked at the ceiling, where a '
    'brown stain had the shape of a map. "A whole year?" she asked. "With one week off," he said, "and no '
    'guests after ten." Outside, as if it had been listening, the gate fell off its hinge.',
    "Sound travels through air at about 340 metres in a second, and light so much faster that we may take it "
    "to arrive at once. So if you count the seconds between a flash of lightning and its thunder, and divide "
    "by three, you know roughly how many kilometres away the storm is. When the number gets smaller the storm "
    "is coming nearer; when you can no longer count at all, it is time to go indoors.",
)
