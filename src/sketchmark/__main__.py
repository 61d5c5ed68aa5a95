from sketchmark.cli import main

main()
